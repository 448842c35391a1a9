#pragma once

#include <cstdint>
#include <span>

#include "poise/backend/choose.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/model/family.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// `W` are the weights of X, if they are known already.
TrainingCost training_cost(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit,
                           const Weights* W = nullptr, int threads = 1);

/// The work of training all of these one after the other; counting stops at `enough` operations.
Work training_work(std::span<const ModelParameters> points, CsrView X, std::uint64_t memory_limit,
                   double enough);

/// Error{resources}, saying what would fit, if training would not fit; `both_diagonals`: both full-rank
/// models of one solve.
void check_memory(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit,
                  bool both_diagonals = false);
/// The same for one model whose cost is known.
void check_memory(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit, const Weights& W,
                  const TrainingCost& cost);

}  // namespace poise
