#pragma once

#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/model/neighbours/problem.hpp"

namespace poise {

/// E_ui = b_i a_u C_ui (X_ui - (XB)_ui) for each entry of C, in the order of W.support: with it the residual
/// of column i is b_i G (e_i - B_:i) + X'E_:i - Lambda B_:i. Empty where C = 0. The sum of |N_u| |C_u:|
/// operations.
std::vector<double> weighted_errors(const NeighbourProblem& problem, const NeighbourColumns& columns,
                                    const Execution& execution);

}  // namespace poise
