#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

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
  std::string short_form;  ///< the name that --model had, where expand_short_form() replaced it
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

/// Replaces a short form of a model (ease, edlae, weight-decay, ...: the names that `study` uses) by the
/// family and the flags that it stands for. `dropout` and `lambda_exponent`: the values of these flags; where
/// there are none, those that `study` tries for the model. Error{usage} for flags that contradict the name.
void expand_short_form(TrainOptions& options, std::vector<double>& dropout,
                       std::vector<double>& lambda_exponent);
/// The same for one value of each.
void expand_short_form(TrainOptions& options);

/// Error{usage} when a flag was given that this model has no use for.
void refuse_other_flags(const TrainOptions& options);

/// Before any work: Error{input} where a weighting cannot do without values and the data have none, and a
/// message where it makes nothing of that.
void check_values(Scheme scheme, const Dataset& dataset, const Context& context);

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
