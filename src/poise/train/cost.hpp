#pragma once

#include <cstdint>
#include <span>

#include "poise/backend/backend.hpp"
#include "poise/backend/choose.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/user_rows.hpp"
#include "poise/model/family.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// The weights that these parameters ask for, for all that reads them: what training costs, whether it fits,
/// the fit, the objective of what is made of it. Empty where there is nothing to train.
Weights weights_of(const ModelParameters& parameters, const UserRows& X, int threads = 1);

TrainingCost training_cost(const ModelParameters& parameters, const TrainingInput& on,
                           std::uint64_t memory_limit, const Weights& W, int threads = 1);
inline Work work_of(const TrainingCost& cost) { return {cost.gpu_operations(), cost.gpu_bytes}; }

/// The work of training all of these one after the other, with these features of the items; counting stops at
/// `enough` operations.
Work training_work(std::span<const ModelParameters> points, const UserRows& X, CsrView features,
                   std::uint64_t memory_limit, double enough);

/// Error{usage} where the backend is a GPU and none of these is trained on one: models with neighbours.
void check_device(std::span<const ModelParameters> points, const Backend& backend);

/// Error{resources}, saying what would fit, when training would not; `cost` where it is known,
/// `both_diagonals` for both full-rank models of one solve.
void check_memory(const ModelParameters& parameters, const TrainingInput& on, std::uint64_t memory_limit,
                  const Weights& W, const TrainingCost* cost = nullptr, bool both_diagonals = false);

/// Operations of a matrix product per second, measured with a product that takes negligible time.
double product_rate(Backend& backend);

}  // namespace poise
