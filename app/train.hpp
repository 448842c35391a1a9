#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "poise/backend/backend.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/weighting/weighting.hpp"

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
  std::optional<std::string> start;
  std::filesystem::path trace;
};

/// Error{usage} when a flag was given that this model has no use for.
void refuse_other_flags(const TrainOptions& options);

/// The weighting that the flags ask for, checked.
WeightingOptions weighting_of(const TrainOptions& options);
/// Its options by flag name, as the model file keeps them.
std::map<std::string, std::string> weighting_texts(const WeightingOptions& weighting);

/// Operations of a matrix product per second, from a product small enough not to be noticed.
double product_rate(Backend& backend);

/// Seconds since the start.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Each trains, writes the model and returns the report: the JSON of `poise train`, without the times of
/// loading.
struct TrainReport {
  Json json;
  Json seconds;
  std::string text;
};
TrainReport train_popularity(const TrainOptions& options, const LoadedDataset& data, const Context& context);
TrainReport train_full_rank(const TrainOptions& options, const LoadedDataset& data, const Context& context);
TrainReport train_low_rank(const TrainOptions& options, const LoadedDataset& data, const Context& context);

}  // namespace poise::app
