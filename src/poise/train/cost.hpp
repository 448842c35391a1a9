#pragma once

#include <cstdint>
#include <span>

#include "poise/backend/choose.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/train/parameters.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// What training a model takes, from the data's sizes and the parameters alone: operations of a matrix
/// product (a gathered operation counts as many), and bytes beyond the data.
struct TrainingCost {
  double bytes = 0;
  double eigenpairs = 0;  ///< operations; of low rank, unless they lie beside the data
  double fit = 0;         ///< of full rank, and of a closed form
  double round = 0;       ///< of low rank with weights
  double gpu_bytes = 0;   ///< of a GPU's memory, if one does it

  /// In all, with some fifteen rounds where there are rounds.
  [[nodiscard]] double operations() const { return eigenpairs + (round > 0 ? 15 * round : fit); }
};
/// A model of the same cost, the same for all that differ only in what does not matter to it.
ModelParameters cost_parameters(ModelParameters parameters);

/// `W` are the weights of X, if they are known already.
TrainingCost training_cost(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit,
                           const Weights* W = nullptr, int threads = 1);

/// The work of training all of these one after the other; operations are counted until they are `enough`.
Work training_work(std::span<const ModelParameters> points, CsrView X, std::uint64_t memory_limit,
                   double enough);

/// Error{resources}, saying what would fit, when training would not; `both_diagonals` for both full-rank
/// models of one solve.
void check_memory(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit,
                  bool both_diagonals = false);
/// The same of one model whose cost is known.
void check_memory(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit, const Weights& W,
                  const TrainingCost& cost);

}  // namespace poise
