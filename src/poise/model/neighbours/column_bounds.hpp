#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/model/neighbours/normal_products.hpp"
#include "poise/model/neighbours/problem.hpp"

namespace poise {

/// What the dense optimum explains more than a column with k neighbours does, from below and from above.
struct ExcessBounds {
  double low = 0;
  double high = 0;
  int steps = 0;  ///< of conjugate gradients
};

/// How near the two bounds of a column are to be: high <= this times low.
constexpr double excess_bounds_apart = 1.10;
/// Steps after which they stand as they are.
constexpr int most_excess_steps = 300;

/// Bounds on excess_j = rho'H_j^-1 rho of saved columns, rho = c_j - H_j B_:j (with coordinate j deleted from
/// both where the diagonal is zero). For any e
///
///     2 rho'e - e'H_j e  <=  excess_j  <=  2 rho'e - e'H_j e + |rho - H_j e|^2 in Lambda^-1,
///
/// since H_j >= Lambda. Conjugate gradients, preconditioned by H_j's diagonal, make e; the bounds are taken
/// from products with X at the end, not from their recurrence. 4 nnz operations a column and step; five
/// vectors over the items for each column of a group and thread.
std::vector<ExcessBounds> bound_excess(const NeighbourProblem& problem, const NeighbourColumns& columns,
                                       std::span<const std::int32_t> which, const Execution& execution);

}  // namespace poise
