#include <algorithm>

#include <lapacke.h>

#include "poise/backend/cpu/serial_blas.hpp"
#include "poise/base/error.hpp"
#include "poise/model/spectrum_routes.hpp"

namespace poise {

EigenPairs symmetric_eigenpairs(Matrix<double> A) {
  const std::int64_t n = A.rows();
  EigenPairs pairs{std::vector<double>(n), std::move(A)};
  if (n == 0) return pairs;
  const SerialBlas serial;
  const auto size = static_cast<lapack_int>(n);
  const lapack_int status =
      LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', size, pairs.Q.view().data, size, pairs.s.data());
  if (status != 0)
    fail(ErrorKind::numerical, "the eigendecomposition of a {} x {} matrix failed (LAPACK says {})", n, n,
         status);
  std::reverse(pairs.s.begin(), pairs.s.end());
  // LAPACK leaves the vectors as rows of a row-major matrix, ascending; they belong in columns, descending.
  for (std::int64_t i = 0; i < n / 2; ++i) std::ranges::swap_ranges(pairs.Q.row(i), pairs.Q.row(n - 1 - i));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) std::swap(pairs.Q(i, j), pairs.Q(j, i));
  }
  return pairs;
}

EigenPairs dense_top_pairs(CsrView X, std::span<const float> row_weights, std::int64_t count,
                           Backend& backend, const Execution& execution) {
  Matrix<double> G(X.cols, X.cols);
  backend.gram(X, row_weights, G.view());
  stop_if_asked(execution.observer);
  EigenPairs all = symmetric_eigenpairs(std::move(G));
  EigenPairs top{{all.s.begin(), all.s.begin() + count}, Matrix<double>(X.cols, count)};
  for (std::int64_t i = 0; i < X.cols; ++i)
    std::ranges::copy(all.Q.row(i).first(count), top.Q.row(i).begin());
  return top;
}

}  // namespace poise
