#pragma once

#include <cstdint>
#include <string>

#include "poise/backend/backend.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/parameters.hpp"

#include "command.hpp"

namespace poise::app {

/// The output of `poise train` while it is assembled: its JSON without times, and its text.
struct TrainReport {  // NOLINT(bugprone-exception-escape): the JSON library moves without throwing
  Json json;
  std::string text;
};

/// The sparse model of the K largest entries per column of a dense one, of this process or of several; the
/// report gains its loss. The dense matrix's certificate and both objectives bound the sparse model's
/// distance from the minimum.
FullRank sparsify(const Scorer& dense, std::int64_t keep, const LoadedDataset& data, CsrView X,
                  const ModelParameters& parameters, const Weights& W, Backend& backend,
                  const Context& context, TrainReport& report);

}  // namespace poise::app
