#include <cassert>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/backend/cpu/dense_kernels.hpp"
#include "poise/backend/cpu/serial_blas.hpp"
#include "poise/base/parallel.hpp"

namespace poise {
namespace {

using dense::leading;
using dense::part;

CBLAS_TRANSPOSE to_cblas(Op op) { return op == Op::none ? CblasNoTrans : CblasTrans; }

void blas_gemm(Op op_a, Op op_b, blasint inner, float alpha, MatrixView<const float> a,
               MatrixView<const float> b, float beta, MatrixView<float> c) {
  cblas_sgemm(CblasRowMajor, to_cblas(op_a), to_cblas(op_b), static_cast<blasint>(c.rows),
              static_cast<blasint>(c.cols), inner, alpha, a.data, leading(a), b.data, leading(b), beta,
              c.data, leading(c));
}

void blas_gemm(Op op_a, Op op_b, blasint inner, double alpha, MatrixView<const double> a,
               MatrixView<const double> b, double beta, MatrixView<double> c) {
  cblas_dgemm(CblasRowMajor, to_cblas(op_a), to_cblas(op_b), static_cast<blasint>(c.rows),
              static_cast<blasint>(c.cols), inner, alpha, a.data, leading(a), b.data, leading(b), beta,
              c.data, leading(c));
}

/// The edge of C's tiles, from C's shape alone. Large ones cost little beyond a single call (6 % at 1024, 9 %
/// at 512), but a small C must be cut finer to keep several cores busy.
std::int64_t tile_edge(std::int64_t rows, std::int64_t cols) {
  std::int64_t edge = 1024;
  while (edge > 128 && Tiling{rows, edge}.tiles() * Tiling{cols, edge}.tiles() < 16) edge /= 2;
  return edge;
}

template <class T>
void tiled_gemm(int threads, Op op_a, Op op_b, T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta,
                MatrixView<T> c) {
  const std::int64_t inner = op_a == Op::none ? a.cols : a.rows;
  assert((op_a == Op::none ? a.rows : a.cols) == c.rows);
  assert((op_b == Op::none ? b.cols : b.rows) == c.cols);
  assert((op_b == Op::none ? b.rows : b.cols) == inner);
  const SerialBlas serial;
  const std::int64_t edge = tile_edge(c.rows, c.cols);
  const Tiling rows{c.rows, edge};
  const Tiling cols{c.cols, edge};
  for_each_tile(rows.tiles() * cols.tiles(), threads, [&](std::int64_t tile) {
    const std::int64_t row = rows.first(tile / cols.tiles());
    const std::int64_t row_count = rows.last(tile / cols.tiles()) - row;
    const std::int64_t col = cols.first(tile % cols.tiles());
    const std::int64_t col_count = cols.last(tile % cols.tiles()) - col;
    const auto a_part =
        op_a == Op::none ? part(a, row, row_count, 0, inner) : part(a, 0, inner, row, row_count);
    const auto b_part =
        op_b == Op::none ? part(b, 0, inner, col, col_count) : part(b, col, col_count, 0, inner);
    blas_gemm(op_a, op_b, static_cast<blasint>(inner), alpha, a_part, b_part, beta,
              part(c, row, row_count, col, col_count));
  });
}

}  // namespace

void CpuBackend::gemm(Op op_a, Op op_b, float alpha, MatrixView<const float> a, MatrixView<const float> b,
                      float beta, MatrixView<float> c) {
  tiled_gemm(threads_, op_a, op_b, alpha, a, b, beta, c);
}

void CpuBackend::gemm(Op op_a, Op op_b, double alpha, MatrixView<const double> a, MatrixView<const double> b,
                      double beta, MatrixView<double> c) {
  tiled_gemm(threads_, op_a, op_b, alpha, a, b, beta, c);
}

}  // namespace poise
