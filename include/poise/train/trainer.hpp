#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/linalg/user_rows.hpp"
#include "poise/model/parameters.hpp"
#include "poise/model/trained.hpp"

namespace poise {

class Backend;
struct Weights;

/// What a trainer keeps for the next models.
enum class Keep { nothing, shared_parts };

/// Trains models on one data set. With Keep::shared_parts it keeps the parts that models share: the
/// eigenpairs of the last rank (which are stored beside the data anyway), the inverse and T of the last
/// Lambda of full rank, the items x items part of the last asymmetric problem. That changes the cost of a
/// model and no bit of it.
class Trainer {
 public:
  /// `folder` holds the data, and the eigenpairs beside them; empty for data in memory. All arguments must
  /// outlive it.
  Trainer(const LoadedDataset& data, std::filesystem::path folder, Keep keep, std::uint64_t memory_limit,
          Backend& backend, Execution execution);
  /// On the processor, with at most 80 % of the machine's memory; eigenpairs are not stored.
  explicit Trainer(const LoadedDataset& data, Keep keep = Keep::nothing, Execution execution = {});
  /// On the caller's matrix and dislikes, without other data: data() must not be called.
  Trainer(UserRows X, Keep keep, std::uint64_t memory_limit, Backend& backend, Execution execution);
  ~Trainer();
  Trainer(Trainer&& other) noexcept;
  Trainer& operator=(Trainer&& other) noexcept;

  /// `W` are the weights of these parameters, if they are known already.
  Trained train(const ModelParameters& parameters, const Weights* W = nullptr);

  /// Both full-rank models of one solve, unconstrained and zero diagonal; each equals what train() returns
  /// for it.
  std::pair<Trained, Trained> train_both_diagonals(const ModelParameters& parameters);

  /// The model as far as its scores need it: of models with neighbours without the share of the dense
  /// optimum.
  Trained train_to_score(const ModelParameters& parameters);
  /// The same for several numbers of neighbours, ascending, in place of that of the parameters; they share
  /// their factorizations.
  std::vector<Trained> train_to_score(const ModelParameters& parameters,
                                      std::span<const std::int64_t> neighbours);

  /// Features of the caller's items (features x items), which must outlive it; those of data are used anyway.
  void use_features(CsrView features);

  /// Models with neighbours read finished columns from this folder, and write columns there as they finish.
  void use_checkpoint(std::filesystem::path folder);

  /// Frees all kept parts.
  void forget();

  /// Expected seconds of train_to_score(), from counted operations at the rate of a matrix product.
  [[nodiscard]] double expected_seconds(const ModelParameters& parameters);
  /// Expected bytes of training it beyond the data, with both diagonals and in float64.
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
