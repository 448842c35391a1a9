#pragma once

#include "poise/backend/backend.hpp"

namespace poise {

/// Backend::symmetric_eigenpairs of the host: LAPACK's divide and conquer on one thread, since its result
/// would depend on the number of threads.
EigenPairs top_eigenpairs(MatrixView<double> a, std::int64_t count);

}  // namespace poise
