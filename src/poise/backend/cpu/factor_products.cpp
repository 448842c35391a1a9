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

/// Blocks of rows in at most 16 parts, so that large sums need no more memory than that.
struct SumParts {
  Tiling blocks;
  Tiling parts;

  explicit SumParts(std::int64_t rows)
      : blocks{rows, block_rows},
        parts{blocks.tiles(), std::max<std::int64_t>(1, (blocks.tiles() + 15) / 16)} {}

  /// The sum over the blocks of a part of add(first, count, sum, scratch).
  template <class Add>
  [[nodiscard]] Matrix<double> sum(std::int64_t part, std::int64_t rows, std::int64_t cols, Add add) const {
    Matrix<double> sum(rows, cols);
    Matrix<double> scratch(2 * block_rows, std::max(rows, cols));
    for (std::int64_t block = parts.first(part); block < parts.last(part); ++block)
      add(blocks.first(block), blocks.last(block) - blocks.first(block), sum.view(), scratch.view());
    return sum;
  }
};

double product_operations(std::int64_t rows, std::int64_t p, std::int64_t q) {
  return 2 * static_cast<double>(rows) * static_cast<double>(p) * static_cast<double>(q);
}

}  // namespace

Matrix<double> CpuBackend::ordered_sum(std::int64_t parts, std::int64_t rows, std::int64_t cols,
                                       double /*operations*/,
                                       const std::function<Matrix<double>(std::int64_t part)>& part) {
  std::vector<Matrix<double>> sums(parts);
  for_each_tile(parts, threads_, [&](std::int64_t k) { sums[k] = part(k); });
  Matrix<double> total(rows, cols);
  for (const Matrix<double>& sum : sums) {
    for (std::int64_t r = 0; r < rows; ++r)
      std::ranges::transform(total.row(r), sum.row(r), total.row(r).begin(), std::plus<>());
  }
  return total;
}

Matrix<double> CpuBackend::factor_gram(In<float> Z, std::span<const float> a) {
  const std::int64_t d = Z.cols;
  if (d == 0) return {};
  const SerialBlas serial;
  const SumParts parts(Z.rows);
  const auto add = [&](std::int64_t first, std::int64_t count, MatrixView<double> sum,
                       MatrixView<double> scratch) {
    const MatrixView<double> rows = scratch.block(0, count);
    widen(
        Z.host(), first,
        [&](std::int64_t r) { return a.empty() ? 1.0 : std::sqrt(static_cast<double>(a[r])); }, rows);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, static_cast<blasint>(d), static_cast<blasint>(count),
                1, rows.data, dense::leading(rows), 1, sum.data, dense::leading(sum));
  };
  Matrix<double> G = ordered_sum(parts.parts.tiles(), d, d, product_operations(Z.rows, d, d) / 2,
                                 [&](std::int64_t part) { return parts.sum(part, d, d, add); });
  for (std::int64_t j = 0; j < d; ++j) {
    for (std::int64_t k = 0; k < j; ++k) G(j, k) = G(k, j);
  }
  return G;
}

Matrix<double> CpuBackend::factor_product(In<float> Y, std::span<const float> a, In<float> Z) {
  if (Y.cols == 0 || Z.cols == 0) return {Y.cols, Z.cols};
  const SerialBlas serial;
  const SumParts parts(Y.rows);
  const auto add = [&](std::int64_t first, std::int64_t count, MatrixView<double> sum,
                       MatrixView<double> scratch) {
    const MatrixView<double> left{scratch.data, count, Y.cols, scratch.stride};
    const MatrixView<double> right{scratch.row(block_rows).data(), count, Z.cols, scratch.stride};
    widen(
        Y.host(), first, [&](std::int64_t r) { return a.empty() ? 1.0 : static_cast<double>(a[r]); }, left);
    widen(
        Z.host(), first, [](std::int64_t) { return 1.0; }, right);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<blasint>(Y.cols),
                static_cast<blasint>(Z.cols), static_cast<blasint>(count), 1, left.data, dense::leading(left),
                right.data, dense::leading(right), 1, sum.data, dense::leading(sum));
  };
  return ordered_sum(parts.parts.tiles(), Y.cols, Z.cols, product_operations(Y.rows, Y.cols, Z.cols),
                     [&](std::int64_t part) { return parts.sum(part, Y.cols, Z.cols, add); });
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
