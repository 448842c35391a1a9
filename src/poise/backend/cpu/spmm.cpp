#include <algorithm>
#include <cassert>
#include <vector>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/backend/cpu/sparse_rows.hpp"
#include "poise/backend/cpu/spmm_kernels.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/dense_kernels.hpp"

namespace poise {
namespace {

constexpr std::int64_t packed_width = 128;

/// How many of the columns left a block takes: 128, or the largest power of two (at least 16) that the rest,
/// padded to a multiple of 16, can fill.
std::int64_t block_width(std::int64_t left) {
  const std::int64_t padded = (left + spmm_lane - 1) / spmm_lane * spmm_lane;
  std::int64_t width = packed_width;
  while (width > padded) width /= 2;
  return width;
}

}  // namespace

void CpuBackend::spmm(CsrView x, MatrixView<const float> b, MatrixView<float> y) {
  assert(b.rows == x.cols && y.rows == x.rows && y.cols == b.cols);
  const SpmmKernels kernels = spmm_kernels();
  const Tiling rows{y.rows, sparse_rows_per_tile};
  // A copy of B's block pays when its rows are read several times over.
  if (x.entries() < 4 * b.rows) {
    for_each_tile(rows.tiles(), threads_,
                  [&](std::int64_t tile) { kernels.direct(x, rows.first(tile), rows.last(tile), b, y); });
    return;
  }
  std::vector<float> packed_data(b.rows * std::min(packed_width, block_width(b.cols)));
  for (std::int64_t col = 0; col < b.cols;) {
    const std::int64_t padded = block_width(b.cols - col);
    const std::int64_t width = std::min(padded, b.cols - col);
    const MatrixView<float> packed{packed_data.data(), b.rows, padded, padded};
    pack(threads_, dense::part(b, 0, b.rows, col, width), packed);
    const MatrixView<float> out = dense::part(y, 0, y.rows, col, width);
    for_each_tile(rows.tiles(), threads_, [&](std::int64_t tile) {
      kernels.packed(x, rows.first(tile), rows.last(tile), packed, out);
    });
    col += width;
  }
}

void CpuBackend::spmm(CsrView x, MatrixView<const double> b, MatrixView<double> y) {
  assert(b.rows == x.cols && y.rows == x.rows && y.cols == b.cols);
  const SpmmKernels kernels = spmm_kernels();
  const Tiling rows{y.rows, sparse_rows_per_tile};
  for_each_tile(rows.tiles(), threads_,
                [&](std::int64_t tile) { kernels.float64(x, rows.first(tile), rows.last(tile), b, y); });
}

}  // namespace poise
