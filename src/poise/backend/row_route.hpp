#pragma once

#include <cmath>
#include <cstdint>

#include "poise/linalg/conjugate_gradients.hpp"

namespace poise {

/// Whether a d x d factorization of a row's system, |row| d^2 + d^3 / 3 operations, costs less than the steps
/// of conjugate gradients, 4 |row| d each, that the row is expected to take from rz to its target: half of
/// Chebyshev's bound for hi / lo, because the eigenvalues of D^-1 H lie in clusters. Such a row is solved as
/// exactly as float32 can, by either route of a backend, so that the next round begins at the same factors
/// on all backends.
POISE_ANYWHERE bool solved_exactly(std::int64_t columns, std::int64_t entries, double condition, double rz,
                                   double target) {
  // Operations of a factorization, and of a step, in operations of a matrix product.
  constexpr double factor_cost = 3;
  constexpr double step_cost = 2.5;
  const auto d = static_cast<double>(columns);
  const auto size = static_cast<double>(entries);
  const double floor = 1e-14 * rz;
  const double reduction = rz / (target > floor ? target : floor);
  const double chebyshev =
      1 + std::sqrt(condition) * std::log(2 * std::sqrt(reduction > 1 ? reduction : 1)) / 4;
  const double most = (d < size ? d : size) + 1;
  const double steps = chebyshev < most ? chebyshev : most;
  return size * d * d + factor_cost * d * d * d / 3 < step_cost * steps * 4 * size * d;
}

}  // namespace poise
