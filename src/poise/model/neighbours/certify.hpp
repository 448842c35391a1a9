#pragma once

#include <cstdint>

#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/model/full_rank/certify.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// The certificate of a saved B with this many neighbours a column, from the data alone, and its share of the
/// dense optimum. Every column is measured on the support that the data give it; one with entries elsewhere,
/// or on its diagonal where that is to be zero, has no bound, and the share is left out. It takes the time of
/// a fit and its memory, nothing of items x items. Error{resources} where that does not fit.
FullRankCheck certify_neighbours(CsrView X, const Weights& W, const FullRankOptions& options,
                                 std::int64_t neighbours, CsrView B, const Execution& execution);

}  // namespace poise
