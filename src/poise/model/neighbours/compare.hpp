#pragma once

#include "poise/base/parallel.hpp"
#include "poise/model/neighbours/checkpoint.hpp"
#include "poise/model/neighbours/problem.hpp"
#include "poise/solver/certificate.hpp"

namespace poise {

/// Sets what share of the dense optimum's explained weight a model reaches: an interval from columns that are
/// looked at (explained_share.hpp), and a proof from probes where these are not all (share_proof.hpp).
void compare_with_dense(const NeighbourProblem& problem, const NeighbourSolution& solution,
                        const Execution& execution, Certificate& certificate);

}  // namespace poise
