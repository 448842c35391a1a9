#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "poise/backend/backend.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/model/full_rank.hpp"
#include "poise/train/parameters.hpp"

#include "command.hpp"

namespace poise::app {

/// The flags of `poise train`; a flag that was not given has no value.
struct TrainOptions {
  std::filesystem::path data;
  std::string model;
  std::filesystem::path out;
  std::optional<double> lambda;
  std::optional<double> dropout;
  bool zero_diagonal = false;
  std::optional<std::string> weighting;
  std::optional<double> alpha;
  std::optional<double> epsilon;
  std::optional<double> gamma;
  std::optional<double> clip;
  std::optional<double> tolerance;
  std::optional<std::int64_t> keep_top;
  std::optional<std::string> regularizer;
  std::optional<std::int64_t> rank;
  std::optional<double> lambda_exponent;
  std::optional<int> rounds;
  std::optional<double> least_decrease;
  std::optional<std::string> start;
  std::filesystem::path trace;
};

/// Error{usage} when a flag was given that this model has no use for.
void refuse_other_flags(const TrainOptions& options);

/// What the flags ask for, checked, with the defaults of those that were not given.
ModelParameters parameters_of(const TrainOptions& options, const Context& context);

/// What `poise train` prints, while it is made: its JSON without times, and its text.
struct TrainReport {
  Json json;
  std::string text;
};

/// The sparse model of the K largest entries a column; the report gains what that costs. What is known of the
/// whole matrix and the objectives of both bound the sparse one's distance from the minimum.
FullRank sparsify(const FullRank& dense, std::int64_t keep, const LoadedDataset& data,
                  const ModelParameters& parameters, Backend& backend, const Context& context,
                  TrainReport& report);

}  // namespace poise::app
