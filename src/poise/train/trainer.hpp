#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/model/asymmetric.hpp"
#include "poise/model/full_rank.hpp"
#include "poise/model/left_factor.hpp"
#include "poise/model/popularity.hpp"
#include "poise/model/wmf.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/parameters.hpp"

namespace poise {

using AnyModel = std::variant<Popularity, FullRank, Asymmetric, Wmf>;

const Scorer& scorer_of(const AnyModel& model);

/// A trained model and what is known of it; of popularity, the model alone.
struct Trained {
  AnyModel model;
  double objective = 0;
  double observed_weight = 0;
  Certificate certificate = {};
  std::int64_t iterations = 0;
  std::int64_t rounds = 0;
  bool converged = true;
  std::map<std::string, double> seconds = {};  ///< by phase

  // Of full rank:
  double objective_error = 0;
  double condition = 0;
  bool float64 = false;
  bool tensor_cores = false;
  std::int64_t direct_columns = 0;
  std::int64_t iterated_columns = 0;
  std::vector<double> worst_column = {};  ///< see FullRankFit

  // Of low rank:
  std::int64_t live_directions = 0;
  std::vector<LowRankRound> trace = {};
};

/// What a trainer keeps for the models that it trains next.
enum class Keep { nothing, shared_parts };

/// Trains models on one data set. With Keep::shared_parts it holds on to what they have in common: the
/// eigenpairs of the last rank (which lie beside the data in any case), the inverse and T of the last Lambda
/// of full rank, the items x items part of the last asymmetric problem. That changes the cost of a model and
/// no bit of it.
class Trainer {
 public:
  /// `folder` is where the data lie, and the eigenpairs beside them; empty where they lie in memory alone.
  /// All must outlive it.
  Trainer(const LoadedDataset& data, std::filesystem::path folder, Keep keep, std::uint64_t memory_limit,
          Backend& backend, Execution execution)
      : Trainer(data.dataset.train.view(), keep, memory_limit, backend, execution) {
    data_ = &data;
    folder_ = std::move(folder);
  }
  /// On a matrix that somebody else holds, with no other data: data() is not to be asked for.
  Trainer(CsrView X, Keep keep, std::uint64_t memory_limit, Backend& backend, Execution execution)
      : X_(X), keep_(keep), memory_limit_(memory_limit), backend_(backend), execution_(execution) {
    X.values = {};
    if (keep == Keep::shared_parts) X_pin_ = backend.pin(X);
  }

  /// `W` are the weights that the parameters ask for, if they are known already.
  Trained train(const ModelParameters& parameters, const Weights* W = nullptr);

  /// Both full-rank models of one solve, unconstrained and zero diagonal; either is what train() returns for
  /// it.
  std::pair<Trained, Trained> train_both_diagonals(const ModelParameters& parameters);

  /// Lets go of what it keeps: for others who need the memory.
  void forget();

  /// Seconds that a model may take, from counted operations at the rate of a matrix product.
  [[nodiscard]] double expected_seconds(const ModelParameters& parameters);
  /// Bytes that training it may take beyond the data, with both diagonals and in float64.
  [[nodiscard]] double expected_bytes(const ModelParameters& parameters);

  [[nodiscard]] const LoadedDataset& data() const { return *data_; }
  [[nodiscard]] Backend& backend() { return backend_; }
  [[nodiscard]] std::uint64_t memory_limit() const { return memory_limit_; }

 private:
  std::vector<Trained> full_rank(const FullRankOptions& options, const Weights& W);
  Trained asymmetric(const ModelParameters& parameters, const Weights& W);
  Trained wmf(const ModelParameters& parameters, const Weights& W);
  const Spectrum& spectrum(std::int64_t rank);
  const TrainingCost& cost(const ModelParameters& parameters);

  CsrView X_;
  const LoadedDataset* data_ = nullptr;
  std::filesystem::path folder_;
  Keep keep_;
  std::uint64_t memory_limit_;
  Backend& backend_;
  Execution execution_;
  Pin X_pin_;
  double rate_ = 0;                            ///< operations of a matrix product per second
  std::map<std::string, TrainingCost> costs_;  ///< by what they depend on
  FullRankBasis basis_;
  LeftFactorCache left_;
  Spectrum spectrum_;
  std::int64_t spectrum_rank_ = 0;
};

}  // namespace poise
