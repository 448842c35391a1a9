#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/model/parameters.hpp"
#include "poise/model/trained.hpp"

namespace poise {

class Backend;
struct Weights;

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
          Backend& backend, Execution execution);
  /// On the processor, with 80 % of the machine's memory at most; eigenpairs are not kept.
  explicit Trainer(const LoadedDataset& data, Keep keep = Keep::nothing, Execution execution = {});
  /// On a matrix that somebody else holds, with no other data: data() is not to be asked for.
  Trainer(CsrView X, Keep keep, std::uint64_t memory_limit, Backend& backend, Execution execution);
  ~Trainer();
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;

  /// `W` are the weights that the parameters ask for, if they are known already.
  Trained train(const ModelParameters& parameters, const Weights* W = nullptr);

  /// Both full-rank models of one solve, unconstrained and zero diagonal; either is what train() returns for
  /// it.
  std::pair<Trained, Trained> train_both_diagonals(const ModelParameters& parameters);

  /// Columns of models with neighbours are taken from this folder, and go there as they are finished.
  void use_checkpoint(std::filesystem::path folder);

  /// Lets go of what it keeps: for others who need the memory.
  void forget();

  /// Seconds that a model may take, from counted operations at the rate of a matrix product.
  [[nodiscard]] double expected_seconds(const ModelParameters& parameters);
  /// Bytes that training it may take beyond the data, with both diagonals and in float64.
  [[nodiscard]] double expected_bytes(const ModelParameters& parameters);

  [[nodiscard]] const LoadedDataset& data() const { return *data_; }
  [[nodiscard]] Backend& backend();
  [[nodiscard]] std::uint64_t memory_limit() const;

 private:
  struct State;

  const LoadedDataset* data_ = nullptr;
  std::unique_ptr<State> state_;
};

}  // namespace poise
