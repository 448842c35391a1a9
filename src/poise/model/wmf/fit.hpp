#pragma once

#include <cstdint>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/model/closed_form.hpp"
#include "poise/model/low_rank.hpp"
#include "poise/model/low_rank/round_checkpoint.hpp"
#include "poise/model/spectrum/spectrum.hpp"
#include "poise/model/wmf/lambda.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

struct WmfOptions : LowRankOptions {
  double lambda_exponent = 0;
  double alpha = 1;  ///< of the constant scheme, 1 for linear and log: see WmfLambda

  [[nodiscard]] WmfLambda regularization() const { return {lambda, lambda_exponent, alpha}; }
};

/// Throws Error{usage} for options out of range.
void validate(const WmfOptions& options);

/// Weighted matrix factorization (the paper's model 2),
///
///     min_{U,V} || sqrt(W) o (X - U V') ||^2 + sum_u lambda_u ||u||^2 + sum_i lambda_i ||v||^2,
///
/// U (m x d), V (n x d), by alternating exact solves of all users and all items. A half-round rotates both
/// factors into the eigenbasis of the fixed one's Gram matrix (U V' and all norms stay) and solves the row
/// systems from where they were. Between rounds the factors are rebalanced (one lambda only) and
/// extrapolated; a round from an extrapolated point counts only if it lowers the objective. Inner tolerances
/// tighten with the progress, down to `tolerance`. Where W = 1, the lambda is one and the start is not random
/// the result is the closed form, the global optimum.
///
/// `spectrum`: at least min(rank, m, n) pairs of X'X (a = 1) for the closed-form start; approximate ones
/// serve a weighted problem as well, for it only starts there. Not read with a random start, nor with
/// `earlier`, whose V (n x d) is the start instead: the first round folds all users in. Some 2 iterations x
/// 4 nnz d operations a round; memory: wmf_memory. `processes` that all fit together hold entries once a
/// host.
LowRankFit fit_wmf(CsrView X, const Weights& W, const WmfOptions& options, const Spectrum& spectrum,
                   Backend& backend, const Execution& execution, RoundCheckpoint* checkpoint = nullptr,
                   const Factors* earlier = nullptr, Processes* processes = nullptr);

/// Bytes that fit_wmf needs beyond X and W; its result is among them.
std::uint64_t wmf_memory(std::int64_t users, std::int64_t items, std::int64_t entries, std::int64_t rank);

}  // namespace poise
