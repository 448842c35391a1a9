#include <limits>
#include <tuple>
#include <vector>

#include "conformance/backends.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_matrix;

POISE_BACKEND_SUITE(Gemm);

constexpr double marker = 77;

/// A matrix inside a wider one, whose right margin nobody may touch.
template <class T>
struct Padded {
  Padded(std::int64_t rows, std::int64_t cols, unsigned seed)
      : cols(cols), whole(random_matrix<T>(rows, cols + 3, seed)) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = cols; c < cols + 3; ++c) whole(r, c) = marker;
    }
  }
  MatrixView<T> view() { return {whole.view().data, whole.rows(), cols, cols + 3}; }

  std::int64_t cols;
  Matrix<T> whole;
};

template <class T>
void expect_near_product(const Matrix<T>& got, const Matrix<T>& wanted, double tolerance) {
  for (std::int64_t r = 0; r < got.rows(); ++r) {
    for (std::int64_t c = 0; c < got.cols(); ++c) {
      ASSERT_NEAR(got(r, c), wanted(r, c), tolerance) << "at " << r << ", " << c;
    }
  }
}

template <class T>
void expect_equal(const Matrix<T>& got, const Matrix<T>& wanted) {
  for (std::int64_t r = 0; r < got.rows(); ++r) {
    for (std::int64_t c = 0; c < got.cols(); ++c)
      ASSERT_EQ(got(r, c), wanted(r, c)) << "at " << r << ", " << c;
  }
}

/// A's numbers of type A, those of B and C of type T.
template <class T, class A = T>
void check_product(testing::HostCalls& backend, testing::HostCalls& one_thread, testing::HostCalls& reference,
                   std::int64_t rows, std::int64_t cols, std::int64_t inner, Op op_a, Op op_b, T beta) {
  SCOPED_TRACE(::testing::Message() << rows << " x " << cols << " x " << inner << ", op "
                                    << static_cast<int>(op_a) << static_cast<int>(op_b) << ", beta " << beta);
  Padded<A> a = op_a == Op::none ? Padded<A>(rows, inner, 1) : Padded<A>(inner, rows, 1);
  Padded<T> b = op_b == Op::none ? Padded<T>(inner, cols, 2) : Padded<T>(cols, inner, 2);
  Padded<T> c(rows, cols, 3);
  Padded<T> serial = c;
  Padded<T> wanted = c;
  const T alpha = 0.5;
  backend.gemm(op_a, op_b, alpha, a.view(), b.view(), beta, c.view());
  one_thread.gemm(op_a, op_b, alpha, a.view(), b.view(), beta, serial.view());
  reference.gemm(op_a, op_b, alpha, a.view(), b.view(), beta, wanted.view());
  expect_equal(c.whole, serial.whole);
  const double epsilon = std::numeric_limits<T>::epsilon();
  expect_near_product(c.whole, wanted.whole, 4 * epsilon * static_cast<double>(inner + 1));
}

TEST_P(Gemm, ByHand) {
  const std::vector<float> a = {1, 2, 3, 4};  // [1 2; 3 4]
  const std::vector<float> b = {5, 6, 7, 8};
  const MatrixView<const float> a_view{a.data(), 2, 2, 2};
  const MatrixView<const float> b_view{b.data(), 2, 2, 2};
  const auto product = [&](Op op_a, Op op_b) {
    std::vector<float> c = {1, 1, 1, 1};
    backend->gemm(op_a, op_b, 2.0F, a_view, b_view, 10.0F, MatrixView<float>{c.data(), 2, 2, 2});
    return c;
  };
  EXPECT_EQ(product(Op::none, Op::none), (std::vector<float>{48, 54, 96, 110}));
  EXPECT_EQ(product(Op::transpose, Op::none), (std::vector<float>{62, 70, 86, 98}));
  EXPECT_EQ(product(Op::none, Op::transpose), (std::vector<float>{44, 56, 88, 116}));
  EXPECT_EQ(product(Op::transpose, Op::transpose), (std::vector<float>{56, 72, 78, 102}));
}

TEST_P(Gemm, ShapesTransposesAndStrides) {
  const std::vector<std::tuple<int, int, int>> shapes = {
      {1, 1, 1}, {5, 1, 3}, {1, 7, 4}, {129, 127, 33}, {128, 256, 5}, {300, 40, 17}, {3, 513, 20}};
  for (const auto& [rows, cols, inner] : shapes) {
    for (const Op op_a : {Op::none, Op::transpose}) {
      for (const Op op_b : {Op::none, Op::transpose}) {
        for (const int beta : {0, 1, -2}) {
          check_product<float>(backend, one_thread, reference, rows, cols, inner, op_a, op_b,
                               static_cast<float>(beta));
          check_product<double>(backend, one_thread, reference, rows, cols, inner, op_a, op_b, beta);
          check_product<double, float>(backend, one_thread, reference, rows, cols, inner, op_a, op_b, beta);
        }
      }
    }
  }
}

TEST_P(Gemm, MoreThanOneTileOfEverySize) {
  // Tiles have an edge of 128, 256, 512 and 1024 here.
  check_product<float>(backend, one_thread, reference, 300, 500, 9, Op::none, Op::none, 1);
  check_product<float>(backend, one_thread, reference, 4100, 20, 9, Op::none, Op::none, 1);
  check_product<double>(backend, one_thread, reference, 30, 8100, 6, Op::transpose, Op::none, 1);
  check_product<float>(backend, one_thread, reference, 16400, 15, 3, Op::none, Op::transpose, 0);
  check_product<double>(backend, one_thread, reference, 7, 16400, 3, Op::transpose, Op::transpose, 1);
  // A is taken in parts of 64 or 256 rows of C, 128 deep; on a GPU 1024 rows at a time.
  check_product<double, float>(backend, one_thread, reference, 1100, 9, 1300, Op::none, Op::none, 1);
  check_product<double, float>(backend, one_thread, reference, 1100, 9, 1300, Op::transpose, Op::none, 2);
  check_product<double, float>(backend, one_thread, reference, 130, 9, 1300, Op::transpose, Op::transpose, 0);
}

TEST_P(Gemm, NothingToAddScalesC) {
  check_product<float>(backend, one_thread, reference, 4, 6, 0, Op::none, Op::none, 3);
  check_product<float>(backend, one_thread, reference, 4, 6, 0, Op::transpose, Op::transpose, 0);
  check_product<double, float>(backend, one_thread, reference, 4, 6, 0, Op::none, Op::none, 3);
  check_product<double, float>(backend, one_thread, reference, 4, 6, 0, Op::transpose, Op::none, 0);
  Matrix<float> empty_inner_a(4, 0);
  Matrix<float> empty_inner_b(0, 6);
  Matrix<float> c(4, 6, 2);
  backend->gemm(Op::none, Op::none, 1.0F, empty_inner_a.view(), empty_inner_b.view(), 0.5F, c.view());
  EXPECT_EQ(c(3, 5), 1.0F);
}

TEST_P(Gemm, EmptyResult) {
  check_product<float>(backend, one_thread, reference, 0, 6, 3, Op::none, Op::none, 1);
  check_product<double>(backend, one_thread, reference, 6, 0, 3, Op::none, Op::transpose, 1);
  check_product<double, float>(backend, one_thread, reference, 0, 6, 3, Op::transpose, Op::none, 1);
}

TEST_P(Gemm, BetaZeroDoesNotReadC) {
  const Matrix<float> a = random_matrix<float>(3, 2, 1);
  const Matrix<float> b = random_matrix<float>(2, 3, 2);
  Matrix<float> c(3, 3, std::numeric_limits<float>::quiet_NaN());
  backend->gemm(Op::none, Op::none, 1.0F, a.view(), b.view(), 0.0F, c.view());
  EXPECT_NEAR(c(2, 1), a(2, 0) * b(0, 1) + a(2, 1) * b(1, 1), 1e-6);
}

}  // namespace
}  // namespace poise
