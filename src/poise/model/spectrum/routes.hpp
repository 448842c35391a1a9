#pragma once

#include <cstdint>
#include <span>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"

namespace poise {

/// The top `count` pairs of G = X' diag(a) X by its n x n matrix: n^3 work and 3 n^2 float64 numbers.
EigenPairs dense_top_pairs(CsrView X, std::span<const float> row_weights, std::int64_t count,
                           Backend& backend, const Execution& execution);

/// The same through X alone: a block Krylov space with full orthogonalization, grown until all pairs have
/// converged and random directions find no others; then the Rayleigh-Ritz pairs. With k directions,
/// 4 nnz k gathered and 2 n k^2 dense operations and 9 k^3 for each of a few eigendecompositions of size k,
/// and n k + 5 k^2 float64 numbers; k is some 2 `count` + 640 on long-tailed data, several times that where
/// the spectrum is flat.
EigenPairs krylov_top_pairs(CsrView X, std::span<const float> row_weights, std::int64_t count,
                            Backend& backend, const Execution& execution);
/// About k.
std::int64_t krylov_size(std::int64_t items, std::int64_t count);

}  // namespace poise
