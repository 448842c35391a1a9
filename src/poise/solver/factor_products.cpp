#include "poise/solver/factor_products.hpp"

#include <algorithm>
#include <vector>

#include "poise/backend/cpu/dense_kernels.hpp"
#include "poise/backend/cpu/serial_blas.hpp"

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

void copy(MatrixView<const float> from, MatrixView<float> to) {
  for (std::int64_t r = 0; r < from.rows; ++r) std::ranges::copy(from.row(r), to.row(r).begin());
}

}  // namespace

Matrix<double> factor_gram(MatrixView<const float> Z, std::span<const float> a, const Execution& execution) {
  const std::int64_t d = Z.cols;
  const SerialBlas serial;
  // At most 16 partial sums, so that a large d needs no more memory than that.
  const Tiling blocks{Z.rows, block_rows};
  const Tiling tiling{blocks.tiles(), std::max<std::int64_t>(1, (blocks.tiles() + 15) / 16)};
  std::vector<Matrix<double>> parts(tiling.tiles());
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    Matrix<double> sum(d, d);
    Matrix<double> rows(block_rows, d);
    Matrix<double> weighted(a.empty() ? 0 : block_rows, d);
    const auto size = static_cast<blasint>(d);
    for (std::int64_t block = tiling.first(tile); block < tiling.last(tile); ++block) {
      const std::int64_t first = blocks.first(block);
      const std::int64_t count = blocks.last(block) - first;
      for (std::int64_t r = 0; r < count; ++r) {
        const auto row = Z.row(first + r);
        std::ranges::copy(row, rows.row(r).begin());
        for (std::int64_t k = 0; k < d && !a.empty(); ++k) weighted(r, k) = rows(r, k) * a[first + r];
      }
      if (a.empty()) {
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, size, static_cast<blasint>(count), 1,
                    rows.view().data, size, 1, sum.view().data, size);
      } else {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, size, size, static_cast<blasint>(count), 1,
                    rows.view().data, size, weighted.view().data, size, 1, sum.view().data, size);
      }
    }
    parts[tile] = std::move(sum);
  });
  Matrix<double> G(d, d);
  for (const Matrix<double>& part : parts) {
    for (std::int64_t j = 0; j < d; ++j) {
      for (std::int64_t k = j; k < d; ++k) G(j, k) += part(j, k);
    }
  }
  for (std::int64_t j = 0; j < d; ++j) {
    for (std::int64_t k = 0; k < j; ++k) G(j, k) = G(k, j);
  }
  return G;
}

void multiply_rows(MatrixView<float> Z, const Matrix<double>& A, const Execution& execution) {
  combine_rows({Z.data, 0, Z.cols, Z.stride}, {}, Z, A, execution);
}

void combine_rows(MatrixView<const float> Z, const Matrix<double>& A, MatrixView<float> Y,
                  const Matrix<double>& B, const Execution& execution) {
  const SerialBlas serial;
  const Matrix<float> a = to_float(A);
  const Matrix<float> b = to_float(B);
  const Tiling tiling{Y.rows, block_rows};
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    const std::int64_t first = tiling.first(tile);
    const std::int64_t count = tiling.last(tile) - first;
    const MatrixView<float> out = Y.block(first, count);
    if (b.rows() > 0) {
      Matrix<float> before(count, Y.cols);
      copy(out, before.view());
      multiply(before.view(), b.view(), 0, out);
    }
    if (a.rows() > 0) multiply(Z.block(first, count), a.view(), b.rows() > 0 ? 1.0F : 0.0F, out);
  });
}

}  // namespace poise
