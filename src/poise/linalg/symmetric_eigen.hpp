#pragma once

#include <cstdint>
#include <vector>

#include "poise/linalg/matrix.hpp"

namespace poise {

/// Eigenpairs in float64, in descending order.
struct EigenPairs {
  std::vector<double> s;
  Matrix<double> Q;  ///< n x s.size(), orthonormal columns
};

/// The `count` largest eigenpairs of a symmetric matrix, which is overwritten: LAPACK's divide and conquer on
/// one thread, because its result would depend on the number of threads.
EigenPairs top_eigenpairs(MatrixView<double> a, std::int64_t count);

}  // namespace poise
