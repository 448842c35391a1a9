#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/model/family.hpp"

namespace poise {

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
    context_.folder = std::move(folder);
    context_.checksum = data.checksum;
  }
  /// On a matrix that somebody else holds, with no other data: data() is not to be asked for.
  Trainer(CsrView X, Keep keep, std::uint64_t memory_limit, Backend& backend, Execution execution)
      : context_{X, memory_limit, backend, execution, keep == Keep::shared_parts} {
    X.values = {};
    if (keep == Keep::shared_parts) X_pin_ = backend.pin(X);
  }

  /// `W` are the weights that the parameters ask for, if they are known already.
  Trained train(const ModelParameters& parameters, const Weights* W = nullptr);

  /// Both full-rank models of one solve, unconstrained and zero diagonal; either is what train() returns for
  /// it.
  std::pair<Trained, Trained> train_both_diagonals(const ModelParameters& parameters);

  /// Lets go of what it keeps: for others who need the memory.
  void forget() { context_.forget(); }

  /// Seconds that a model may take, from counted operations at the rate of a matrix product.
  [[nodiscard]] double expected_seconds(const ModelParameters& parameters);
  /// Bytes that training it may take beyond the data, with both diagonals and in float64.
  [[nodiscard]] double expected_bytes(const ModelParameters& parameters);

  [[nodiscard]] const LoadedDataset& data() const { return *data_; }
  [[nodiscard]] Backend& backend() { return context_.backend; }
  [[nodiscard]] std::uint64_t memory_limit() const { return context_.memory_limit; }

 private:
  const TrainingCost& cost(const ModelParameters& parameters);

  const LoadedDataset* data_ = nullptr;
  FitContext context_;
  Pin X_pin_;
  double rate_ = 0;                            ///< operations of a matrix product per second
  std::map<std::string, TrainingCost> costs_;  ///< by what they depend on
};

}  // namespace poise
