#include "poise/linalg/symmetric_eigen.hpp"

#include <algorithm>
#include <cassert>

#include "poise/base/error.hpp"
#include "poise/linalg/dense_kernels.hpp"
#include "poise/linalg/serial_blas.hpp"

namespace poise {

EigenPairs top_eigenpairs(MatrixView<double> a, std::int64_t count) {
  const std::int64_t n = a.rows;
  assert(a.cols == n && count <= n);
  EigenPairs pairs{std::vector<double>(n), Matrix<double>(n, count)};
  if (n == 0) return pairs;
  const SerialBlas serial;
  const lapack_int status = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', static_cast<lapack_int>(n), a.data,
                                           dense::leading(a), pairs.s.data());
  if (status != 0)
    fail(ErrorKind::numerical, "the eigendecomposition of a {} x {} matrix failed (LAPACK says {})", n, n,
         status);
  std::reverse(pairs.s.begin(), pairs.s.end());
  pairs.s.resize(count);
  // LAPACK returns the vectors as ascending rows of a row-major matrix; Q holds them as descending columns.
  for (std::int64_t k = 0; k < count; ++k) {
    const std::span<const double> vector = a.row(n - 1 - k);
    for (std::int64_t i = 0; i < n; ++i) pairs.Q(i, k) = vector[i];
  }
  return pairs;
}

}  // namespace poise
