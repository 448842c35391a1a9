#pragma once

#include "poise/backend/backend.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/model/full_rank/basis.hpp"
#include "poise/solver/column_problem.hpp"
#include "poise/solver/inverse_operator.hpp"
#include "poise/solver/shared_system.hpp"

namespace poise {

/// Computes A^-1, A = X' diag(a) X + beta F'F + Lambda / b_bar, into the basis unless it is there; false,
/// without an inverse, if this precision does not suffice. Sets `condition` to the estimate for A. n^3
/// operations.
template <class T>
bool invert_shared_system(const ColumnProblem& problem, FullRankBasis& basis, Backend& backend,
                          const Execution& execution, Stopwatch& watch, double& condition);

/// An estimate of A's condition (2-norm), given A through the data and its inverse: where the least l_i
/// already shows that it is at most `enough`, the bound that this gives, which is not from below.
template <class T>
double condition_of(const SharedSystem& A, const InverseOperator<T>& A_inverse, double enough);

extern template double condition_of<float>(const SharedSystem&, const InverseOperator<float>&, double);
extern template double condition_of<double>(const SharedSystem&, const InverseOperator<double>&, double);
extern template bool invert_shared_system<float>(const ColumnProblem&, FullRankBasis&, Backend&,
                                                 const Execution&, Stopwatch&, double&);
extern template bool invert_shared_system<double>(const ColumnProblem&, FullRankBasis&, Backend&,
                                                  const Execution&, Stopwatch&, double&);

}  // namespace poise
