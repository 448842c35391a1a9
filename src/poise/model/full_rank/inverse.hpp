#pragma once

#include "poise/backend/backend.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/model/full_rank/basis.hpp"
#include "poise/solver/column_problem.hpp"

namespace poise {

/// A^-1 in the basis, A = X' diag(a) X + Lambda / b_bar, unless it is there; false when this precision is not
/// up to it, and then there is none. `condition` is what was found of A. n^3 operations.
template <class T>
bool invert_shared_system(const ColumnProblem& problem, FullRankBasis& basis, Backend& backend,
                          Stopwatch& watch, double& condition);

extern template bool invert_shared_system<float>(const ColumnProblem&, FullRankBasis&, Backend&, Stopwatch&,
                                                 double&);
extern template bool invert_shared_system<double>(const ColumnProblem&, FullRankBasis&, Backend&, Stopwatch&,
                                                  double&);

}  // namespace poise
