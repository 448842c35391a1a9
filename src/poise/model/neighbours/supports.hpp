#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/model/neighbours/problem.hpp"

namespace poise {

/// 1 / A_ii of each item, A = G + Lambda / b_bar: what makes a count of common users comparable.
std::vector<double> inverse_diagonals(const NeighbourProblem& problem, int threads);

/// The supports of columns [first, first + count), count x k, the best first: the k items i with the largest
/// G_ij^2 / A_ii (ties to the lower item; not j itself where the diagonal is zero); where fewer items have
/// users or features in common with j, the lowest others fill in. All users count, however many items they
/// have. One row of G a column; k is at most problem.most_neighbours().
void choose_supports(const NeighbourProblem& problem, std::span<const double> inverse_diagonal,
                     std::int64_t first, std::int64_t count, std::int64_t k, std::span<std::int32_t> supports,
                     const Execution& execution);

}  // namespace poise
