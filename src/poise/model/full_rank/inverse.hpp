#pragma once

#include "poise/backend/backend.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/model/full_rank/basis.hpp"
#include "poise/solver/column_problem.hpp"

namespace poise {

/// Computes A^-1, A = X' diag(a) X + Lambda / b_bar, into the basis unless it is there; false, without an
/// inverse, if this precision does not suffice. Sets `condition` to the estimate for A. n^3 operations.
template <class T>
bool invert_shared_system(const ColumnProblem& problem, FullRankBasis& basis, Backend& backend,
                          Stopwatch& watch, double& condition);

extern template bool invert_shared_system<float>(const ColumnProblem&, FullRankBasis&, Backend&, Stopwatch&,
                                                 double&);
extern template bool invert_shared_system<double>(const ColumnProblem&, FullRankBasis&, Backend&, Stopwatch&,
                                                  double&);

}  // namespace poise
