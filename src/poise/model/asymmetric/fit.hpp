#pragma once

#include <cstdint>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/model/asymmetric/left_factor.hpp"
#include "poise/model/closed_form.hpp"
#include "poise/model/low_rank.hpp"
#include "poise/model/low_rank/round_checkpoint.hpp"
#include "poise/model/spectrum/spectrum.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// Training of the asymmetric factorization (the paper's models 1, 3 and 4, algorithm 1):
///
///     min over U, V (n x d) of || sqrt(W) o (X - X U V') ||^2 + R(U, V).
struct AsymmetricOptions : LowRankOptions {
  Regularizer regularizer = Regularizer::weight_decay;
};

/// W = 1: the closed form, the global optimum. Otherwise rounds of V given U, U given V (each solved to a
/// tenth of what a round gains, at the end to the tolerance), a balanced pair, and from the second round on a
/// step of nonlinear conjugate gradients that takes the round as its preconditioned gradient, its length the
/// best one, kept when it is better than the round itself. The objective never rises. `spectrum` holds at
/// least min(rank, n) pairs of X'X. Columns of dropped directions are zero. Error{resources} if it does not
/// fit the memory limit.
///
/// A round costs some 30 nnz d operations on entries, 10 m d^2, and those of the preconditioner in each of
/// U's iterations (left_factor.hpp): 8 n k d by k eigenpairs, 2 n^2 d by an inverse. `earlier` are factors at
/// which the rounds begin, in place of the start of the options. A `cache` keeps the preconditioner's left
/// part for fits that differ in C alone, and changes no bit. `processes` that all fit together hold entries
/// once a host.
LowRankFit fit_asymmetric(CsrView X, const Weights& W, const AsymmetricOptions& options,
                          const Spectrum& spectrum, Backend& backend, const Execution& execution,
                          LeftFactorCache* cache = nullptr, RoundCheckpoint* checkpoint = nullptr,
                          const Factors* earlier = nullptr, Processes* processes = nullptr);

/// Bytes beyond X and the spectrum that the rounds need, without the items x items part.
std::uint64_t asymmetric_memory(CsrView X, std::int64_t rank);

}  // namespace poise
