#pragma once

#include <cstdint>

#include "poise/model/spectrum.hpp"

namespace poise {

/// About the top `count` pairs of X'X, by `steps` block power iterations from seeded random vectors: enough
/// for an alternating solve to start from, at a small part of top_spectrum's cost; no closed form may be read
/// off it. Q is orthonormal, s are the square roots of the eigenvalues of Q'G^2 Q. 4 nnz count operations a
/// step. The same bytes whatever the thread count.
Spectrum rough_spectrum(CsrView X, std::int64_t count, int steps, Backend& backend,
                        const Execution& execution);

}  // namespace poise
