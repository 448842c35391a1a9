#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "poise/backend/backend.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/model/full_rank.hpp"
#include "poise/model/parameters.hpp"

#include "command.hpp"

namespace poise::app {

/// What `poise train` prints, while it is made: its JSON without times, and its text.
struct TrainReport {
  Json json;
  std::string text;
};

/// nDCG@100 on the validation part; none where there is no such part.
std::optional<double> validation_ndcg(const Scorer& model, const Dataset& dataset,
                                      const Execution& execution);

/// The sparse model of the K largest entries a column; the report gains what that costs. What is known of the
/// whole matrix and the objectives of both bound the sparse one's distance from the minimum.
FullRank sparsify(const FullRank& dense, std::int64_t keep, const LoadedDataset& data,
                  const ModelParameters& parameters, Backend& backend, const Context& context,
                  TrainReport& report);

}  // namespace poise::app
