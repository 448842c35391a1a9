#include <tuple>
#include <vector>

#include "conformance/backends.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::random_matrix;

POISE_BACKEND_SUITE(Gram);
POISE_BACKEND_SUITE(Spmm);

Csr sparse_example() {  // [. 2 3; . . .; 4 5 .; . 6 .]
  return {.rows = 4,
          .cols = 3,
          .offsets = {0, 2, 2, 4, 5},
          .indices = {1, 2, 0, 1, 1},
          .values = {2, 3, 4, 5, 6}};
}

template <class Got, class Wanted>
void expect_equal_inside(const Got& got, const Wanted& wanted) {
  for (std::int64_t r = 0; r < wanted.rows(); ++r) {
    for (std::int64_t c = 0; c < wanted.cols(); ++c)
      ASSERT_EQ(got(r, c), wanted(r, c)) << "at " << r << ", " << c;
  }
}

const std::vector<std::tuple<int, int, double>> shapes = {{0, 5, 0.5},     {5, 0, 0.5},    {1, 1, 1},
                                                          {40, 15, 0.3},   {40, 16, 0.0},  {300, 17, 0.9},
                                                          {100, 200, 0.1}, {63, 515, 0.05}};

TEST_P(Gram, CountsByHandAndIgnoresValues) {
  Matrix<float> g(3, 3, -1);
  backend->gram(sparse_example().view(), {}, g.view());
  const std::vector<std::vector<float>> wanted = {{1, 1, 0}, {1, 3, 1}, {0, 1, 1}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) EXPECT_EQ(g(i, j), wanted[i][j]) << i << ", " << j;
  }
}

TEST_P(Gram, RowWeightsByHand) {
  const std::vector<float> weights = {10, 100, 0.5, 2};
  Matrix<float> g(3, 3, -1);
  backend->gram(sparse_example().view(), weights, g.view());
  const std::vector<std::vector<float>> wanted = {{0.5, 0.5, 0}, {0.5, 12.5, 10}, {0, 10, 10}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) EXPECT_EQ(g(i, j), wanted[i][j]) << i << ", " << j;
  }
}

TEST_P(Gram, LikeTheReferenceInsideAWiderMatrix) {
  for (const auto& [rows, cols, density] : shapes) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
    const Csr x = random_csr(rows, cols, density, true, 5);
    const std::vector<float> weights(random_csr(1, rows, 1, true, 6).values);
    for (const std::span<const float> chosen : {std::span<const float>(), std::span<const float>(weights)}) {
      Matrix<float> whole(cols, cols + 2, 77);
      Matrix<float> serial(cols, cols);
      Matrix<float> wanted(cols, cols);
      backend->gram(x.view(), chosen, {whole.view().data, cols, cols, cols + 2});
      one_thread->gram(x.view(), chosen, serial.view());
      reference->gram(x.view(), chosen, wanted.view());
      expect_equal_inside(whole, serial);
      for (std::int64_t i = 0; i < cols; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) ASSERT_FLOAT_EQ(whole(i, j), wanted(i, j)) << i << ", " << j;
        ASSERT_EQ(whole(i, cols), 77) << "the margin of row " << i;
      }
    }
  }
}

TEST_P(Gram, WeightsAreAddedInFloat64) {
  // 2^25 and then 100 ones: in float32 each one would be lost.
  Csr x{.rows = 101, .cols = 1, .offsets = {0}, .indices = std::vector<std::int32_t>(101, 0)};
  for (int r = 1; r <= 101; ++r) x.offsets.push_back(r);
  std::vector<float> weights(101, 1);
  weights[0] = 33554432.0F;
  Matrix<float> g(1, 1);
  backend->gram(x.view(), weights, g.view());
  EXPECT_EQ(g(0, 0), 33554532.0F);
}

TEST_P(Spmm, ByHandWithAndWithoutValues) {
  Csr x = sparse_example();
  const std::vector<float> b = {1, 10, 2, 20, 3, 30};
  const MatrixView<const float> b_view{b.data(), 3, 2, 2};
  std::vector<float> y(8, -1);
  backend->spmm(x.view(), b_view, MatrixView<float>{y.data(), 4, 2, 2});
  EXPECT_EQ(y, (std::vector<float>{13, 130, 0, 0, 14, 140, 12, 120}));
  x.values.clear();
  backend->spmm(x.view(), b_view, MatrixView<float>{y.data(), 4, 2, 2});
  EXPECT_EQ(y, (std::vector<float>{5, 50, 0, 0, 3, 30, 2, 20}));
}

TEST_P(Spmm, LikeTheReferenceInsideWiderMatrices) {
  for (const auto& [rows, inner, density] : shapes) {
    for (const int cols : {0, 1, 7, 16, 45, 128, 700}) {
      for (const bool with_values : {false, true}) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << inner << " x " << cols);
        const Csr x = random_csr(rows, inner, density, with_values, 7);
        const Matrix<float> b = random_matrix<float>(inner, cols + 2, 8);
        const MatrixView<const float> b_view{b.view().data, inner, cols, cols + 2};
        Matrix<float> whole(rows, cols + 1, 77);
        Matrix<float> serial(rows, cols);
        Matrix<float> wanted(rows, cols);
        backend->spmm(x.view(), b_view, {whole.view().data, rows, cols, cols + 1});
        one_thread->spmm(x.view(), b_view, serial.view());
        reference->spmm(x.view(), b_view, wanted.view());
        expect_equal_inside(whole, serial);
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t c = 0; c < cols; ++c)
            ASSERT_NEAR(whole(r, c), wanted(r, c), 2e-7 * static_cast<double>(1 + x.view().row_size(r)))
                << r << ", " << c;
          ASSERT_EQ(whole(r, cols), 77) << "the margin of row " << r;
        }
      }
    }
  }
}

TEST_P(Spmm, InFloat64LikeTheReferenceInsideWiderMatrices) {
  for (const auto& [rows, inner, density] : shapes) {
    for (const int cols : {0, 1, 31, 32, 45, 130}) {
      for (const bool with_values : {false, true}) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << inner << " x " << cols);
        const Csr x = random_csr(rows, inner, density, with_values, 7);
        const Matrix<double> b = random_matrix<double>(inner, cols + 2, 8);
        const MatrixView<const double> b_view{b.view().data, inner, cols, cols + 2};
        Matrix<double> whole(rows, cols + 1, 77);
        Matrix<double> serial(rows, cols);
        Matrix<double> wanted(rows, cols);
        backend->spmm(x.view(), b_view, {whole.view().data, rows, cols, cols + 1});
        one_thread->spmm(x.view(), b_view, serial.view());
        reference->spmm(x.view(), b_view, wanted.view());
        expect_equal_inside(whole, serial);
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t c = 0; c < cols; ++c)
            ASSERT_NEAR(whole(r, c), wanted(r, c), 1e-12) << r << ", " << c;
          ASSERT_EQ(whole(r, cols), 77) << "the margin of row " << r;
        }
      }
    }
  }
}

TEST_P(Spmm, WithASparseMatrixLikeTheReference) {
  for (const auto& [rows, inner, density] : shapes) {
    for (const int cols : {0, 1, 45, 700}) {
      for (const bool with_values : {false, true}) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << inner << " x " << cols);
        const Csr x = random_csr(rows, inner, density, with_values, 7);
        const Csr b = random_csr(inner, cols, 0.2, !with_values, 8);
        Matrix<float> whole(rows, cols + 1, 77);
        Matrix<float> wanted(rows, cols);
        backend->spmm(x.view(), b.view(), {whole.view().data, rows, cols, cols + 1});
        reference->spmm(x.view(), b.view(), wanted.view());
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t c = 0; c < cols; ++c) ASSERT_EQ(whole(r, c), wanted(r, c)) << r << ", " << c;
          ASSERT_EQ(whole(r, cols), 77) << "the margin of row " << r;
        }
      }
    }
  }
}

TEST_P(Spmm, LongRowsLoseNoMoreThanShortOnes) {
  // One row of 100 000 entries: float32 sums of all of them would be off by some 1e-4 relative.
  const std::int64_t n = 100'000;
  const Csr x = random_csr(1, n, 1, true, 3);
  Matrix<float> b(n, 20);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < 20; ++j) b(i, j) = 1 + static_cast<float>((i * 31 + j) % 97) / 97;
  }
  for (const int copies : {1, 5}) {  // few entries for B's rows, and many
    Csr rows = x;
    for (int r = 1; r < copies; ++r) {
      rows.indices.insert(rows.indices.end(), x.indices.begin(), x.indices.end());
      rows.values.insert(rows.values.end(), x.values.begin(), x.values.end());
      rows.offsets.push_back(rows.entries());
    }
    rows.rows = copies;
    Matrix<float> y(copies, 20);
    Matrix<float> wanted(copies, 20);
    backend->spmm(rows.view(), b.view(), y.view());
    reference->spmm(rows.view(), b.view(), wanted.view());
    for (std::int64_t j = 0; j < 20; ++j) ASSERT_NEAR(y(copies - 1, j) / wanted(copies - 1, j), 1, 2e-7);
  }
}

TEST_P(Spmm, ARowAloneIsARowAmongOthers) {
  for (const bool with_values : {false, true}) {
    const Csr x = random_csr(40, 300, 0.3, with_values, 7);
    const Matrix<float> b = random_matrix<float>(300, 203, 8);
    Matrix<float> y(40, 203);
    backend->spmm(x.view(), b.view(), y.view());
    for (std::int64_t u = 0; u < 40; ++u) {
      CsrView row = x.view();
      row.rows = 1;
      row.offsets = row.offsets.subspan(u, 2);
      Matrix<float> alone(1, 203);
      backend->spmm(row, b.view(), alone.view());
      for (std::int64_t j = 0; j < 203; ++j) ASSERT_EQ(alone(0, j), y(u, j)) << u << ", " << j;
    }
  }
}

}  // namespace
}  // namespace poise
