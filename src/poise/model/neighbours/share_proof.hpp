#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/model/neighbours/column_ridge.hpp"
#include "poise/model/neighbours/problem.hpp"

namespace poise {

/// An upper bound on the sum over all columns of what the dense optimum explains more, right but for a chance
/// of certificate_doubt. With H_j / b_j >= lo_j A, A = G + Lambda / b_bar, and the residuals R = (rho_1 ...
/// rho_n),
///
///     sum_j excess_j <= tr K,   K = S R'A^-1 R S,   s_j = (lo_j b_j)^-1/2,
///
/// and probes z bound the trace (solver/trace_bound.hpp) from z'Kz = y'A^-1 y, y = R S z, and K z. Conjugate
/// gradients preconditioned by A's diagonal stand for A^-1: for any e, with r = y - A e,
///
///     y'A^-1 y <= y'e + e'r + r'(Lambda / b_bar)^-1 r.
///
/// Zero diagonal: a column's own coordinate of rho is free. The bound is tightest where it is what the dense
/// optimum explains more, and `own` is a guess at that, made before the draw. 4 nnz operations a probe and
/// step.
double prove_excess(const NeighbourProblem& problem, const NeighbourColumns& columns,
                    std::span<const NeighbourFigures> figures, std::span<const double> own,
                    const Execution& execution);

}  // namespace poise
