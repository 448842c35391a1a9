#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/dense_kernels.hpp"
#include "poise/linalg/serial_blas.hpp"

namespace poise {
namespace {

constexpr std::int64_t block_rows = 256;

Matrix<float> to_float(const Matrix<double>& A) {
  Matrix<float> result(A.rows(), A.cols());
  for (std::int64_t r = 0; r < A.rows(); ++r) {
    for (std::int64_t c = 0; c < A.cols(); ++c) result(r, c) = static_cast<float>(A(r, c));
  }
  return result;
}

/// C = A B + beta C for one block of rows.
void multiply(MatrixView<const float> a, MatrixView<const float> b, float beta, MatrixView<float> c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(c.rows),
              static_cast<blasint>(c.cols), static_cast<blasint>(a.cols), 1.0F, a.data, dense::leading(a),
              b.data, dense::leading(b), beta, c.data, dense::leading(c));
}

void copy_block(MatrixView<const float> from, MatrixView<float> to) {
  for (std::int64_t r = 0; r < from.rows; ++r) std::ranges::copy(from.row(r), to.row(r).begin());
}

/// Rows of Z in float64, scaled.
template <class Scale>
void widen(MatrixView<const float> Z, std::int64_t first, Scale scale, MatrixView<double> to) {
  for (std::int64_t r = 0; r < to.rows; ++r) {
    const double factor = scale(first + r);
    for (std::int64_t k = 0; k < to.cols; ++k) to(r, k) = factor * Z(first + r, k);
  }
}

/// The sum over blocks of rows of add(first, count, sum, scratch), in at most 16 parts, so that large sums
/// need no more memory than that.
template <class Add>
Matrix<double> sum_over_blocks(std::int64_t rows, std::int64_t sum_rows, std::int64_t sum_cols, int threads,
                               Add add) {
  const SerialBlas serial;
  const Tiling blocks{rows, block_rows};
  const Tiling tiling{blocks.tiles(), std::max<std::int64_t>(1, (blocks.tiles() + 15) / 16)};
  std::vector<Matrix<double>> parts(tiling.tiles());
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    Matrix<double> sum(sum_rows, sum_cols);
    Matrix<double> scratch(2 * block_rows, std::max(sum_rows, sum_cols));
    for (std::int64_t block = tiling.first(tile); block < tiling.last(tile); ++block)
      add(blocks.first(block), blocks.last(block) - blocks.first(block), sum.view(), scratch.view());
    parts[tile] = std::move(sum);
  });
  Matrix<double> total(sum_rows, sum_cols);
  for (const Matrix<double>& part : parts) {
    for (std::int64_t r = 0; r < sum_rows; ++r)
      std::ranges::transform(total.row(r), part.row(r), total.row(r).begin(), std::plus<>());
  }
  return total;
}

}  // namespace

Matrix<double> CpuBackend::factor_gram(In<float> Z, std::span<const float> a) {
  const std::int64_t d = Z.cols;
  if (d == 0) return {};
  Matrix<double> G = sum_over_blocks(
      Z.rows, d, d, threads_,
      [&](std::int64_t first, std::int64_t count, MatrixView<double> sum, MatrixView<double> scratch) {
        const MatrixView<double> rows = scratch.block(0, count);
        widen(
            Z.host(), first,
            [&](std::int64_t r) { return a.empty() ? 1.0 : std::sqrt(static_cast<double>(a[r])); }, rows);
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, static_cast<blasint>(d),
                    static_cast<blasint>(count), 1, rows.data, dense::leading(rows), 1, sum.data,
                    dense::leading(sum));
      });
  for (std::int64_t j = 0; j < d; ++j) {
    for (std::int64_t k = 0; k < j; ++k) G(j, k) = G(k, j);
  }
  return G;
}

Matrix<double> CpuBackend::factor_product(In<float> Y, std::span<const float> a, In<float> Z) {
  if (Y.cols == 0 || Z.cols == 0) return {Y.cols, Z.cols};
  return sum_over_blocks(
      Y.rows, Y.cols, Z.cols, threads_,
      [&](std::int64_t first, std::int64_t count, MatrixView<double> sum, MatrixView<double> scratch) {
        const MatrixView<double> left{scratch.data, count, Y.cols, scratch.stride};
        const MatrixView<double> right{scratch.row(block_rows).data(), count, Z.cols, scratch.stride};
        widen(
            Y.host(), first, [&](std::int64_t r) { return a.empty() ? 1.0 : static_cast<double>(a[r]); },
            left);
        widen(
            Z.host(), first, [](std::int64_t) { return 1.0; }, right);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<blasint>(Y.cols),
                    static_cast<blasint>(Z.cols), static_cast<blasint>(count), 1, left.data,
                    dense::leading(left), right.data, dense::leading(right), 1, sum.data,
                    dense::leading(sum));
      });
}

void CpuBackend::combine_rows(In<float> Z, const Matrix<double>& A, Out<float> Y, const Matrix<double>& B) {
  const SerialBlas serial;
  const Matrix<float> a = to_float(A);
  const Matrix<float> b = to_float(B);
  const Tiling tiling{Y.rows, block_rows};
  for_each_tile(tiling.tiles(), threads_, [&](std::int64_t tile) {
    const std::int64_t first = tiling.first(tile);
    const std::int64_t count = tiling.last(tile) - first;
    const MatrixView<float> out = Y.host().block(first, count);
    if (b.rows() > 0) {
      Matrix<float> before(count, Y.cols);
      copy_block(out, before.view());
      multiply(before.view(), b.view(), 0, out);
    }
    if (a.rows() > 0) multiply(Z.host().block(first, count), a.view(), b.rows() > 0 ? 1.0F : 0.0F, out);
  });
}

}  // namespace poise
