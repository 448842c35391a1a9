#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Dense>
#include <lapacke.h>

#include "poise/linalg/serial_blas.hpp"

#include "conformance/backends.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_matrix;

POISE_BACKEND_SUITE(InvertSpd);

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Y'Y + lambda I with lambda such that the condition number is about the one asked for; Y has more columns
/// than rows, so that the smallest eigenvalue is lambda.
template <class T>
Matrix<T> random_spd(std::int64_t n, double condition, unsigned seed) {
  const Matrix<double> y = random_matrix<double>(n / 2 + 1, n, seed);
  const Eigen::Map<const Dense> map(y.view().data, y.rows(), n);
  Dense gram = map.transpose() * map;
  gram.diagonal().array() += gram.cwiseAbs().rowwise().sum().maxCoeff() / condition;
  Matrix<T> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) a(i, j) = static_cast<T>(gram(std::min(i, j), std::max(i, j)));
  }
  return a;
}

template <class T>
Dense to_double(const Matrix<T>& a) {
  Dense copy(a.rows(), a.cols());
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j < a.cols(); ++j) copy(i, j) = a(i, j);
  }
  return copy;
}

template <class T>
double residual(const Dense& a, const Matrix<T>& inverse) {
  return (a * to_double(inverse) - Dense::Identity(a.rows(), a.rows())).norm();
}

template <class T>
Matrix<T> lapack_inverse(Matrix<T> a) {
  const SerialBlas serial;
  const auto n = static_cast<lapack_int>(a.rows());
  if constexpr (std::is_same_v<T, float>) {
    LAPACKE_spotrf(LAPACK_COL_MAJOR, 'L', n, a.view().data, n);
    LAPACKE_spotri(LAPACK_COL_MAJOR, 'L', n, a.view().data, n);
  } else {
    LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, a.view().data, n);
    LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', n, a.view().data, n);
  }
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j < i; ++j) a(i, j) = a(j, i);
  }
  return a;
}

template <class T>
void check(testing::HostCalls& backend, testing::HostCalls& one_thread, std::int64_t n, double condition) {
  SCOPED_TRACE(::testing::Message() << n << " x " << n << ", condition " << condition);
  const Matrix<T> a = random_spd<T>(n, condition, static_cast<unsigned>(n));
  Matrix<T> whole(n, n + 3, 77);
  for (std::int64_t i = 0; i < n; ++i) std::copy_n(a.row(i).begin(), n, whole.row(i).begin());
  Matrix<T> inverse = a;
  const SpdInverse outcome = backend.invert_spd(MatrixView<T>{whole.view().data, n, n, n + 3});
  const SpdInverse serial = one_thread.invert_spd(inverse.view());
  ASSERT_TRUE(outcome.positive_definite);
  EXPECT_EQ(outcome.condition, serial.condition);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      ASSERT_EQ(whole(i, j), inverse(i, j)) << i << ", " << j;
      ASSERT_EQ(whole(i, j), whole(j, i)) << i << ", " << j;
    }
    for (std::int64_t j = n; j < n + 3; ++j) ASSERT_EQ(whole(i, j), 77) << "the margin of row " << i;
  }
  const Dense exact_a = to_double(a);
  const Eigen::SelfAdjointEigenSolver<Dense> eigen(exact_a, Eigen::EigenvaluesOnly);
  const double true_condition = eigen.eigenvalues()(n - 1) / eigen.eigenvalues()(0);
  EXPECT_GE(outcome.condition, 0.5 * true_condition);
  EXPECT_LE(outcome.condition, 1.01 * true_condition);
  const double epsilon = std::numeric_limits<T>::epsilon();
  const double floor = 10 * epsilon * std::sqrt(static_cast<double>(n));
  EXPECT_LE(residual(exact_a, inverse), 10 * residual(exact_a, lapack_inverse(a)) + floor);
  const Dense exact = exact_a.ldlt().solve(Dense::Identity(n, n));
  EXPECT_LE((to_double(inverse) - exact).norm(), 10 * condition * epsilon * exact.norm() + floor);
}

TEST_P(InvertSpd, ByHand) {
  std::vector<float> a = {4, 2, 2, 3};
  const SpdInverse outcome = backend->invert_spd(MatrixView<float>{a.data(), 2, 2, 2});
  EXPECT_TRUE(outcome.positive_definite);
  EXPECT_FLOAT_EQ(a[0], 0.375F);
  EXPECT_FLOAT_EQ(a[1], -0.25F);
  EXPECT_FLOAT_EQ(a[2], -0.25F);
  EXPECT_FLOAT_EQ(a[3], 0.5F);
  EXPECT_NEAR(outcome.condition, (7 + std::sqrt(17.0)) / (7 - std::sqrt(17.0)), 1e-3);
}

TEST_P(InvertSpd, EmptyAndSingle) {
  Matrix<double> none(0, 0);
  const SpdInverse empty = backend->invert_spd(none.view());
  EXPECT_TRUE(empty.positive_definite);
  EXPECT_EQ(empty.condition, 0);
  Matrix<double> one(1, 1, 8);
  const SpdInverse single = backend->invert_spd(one.view());
  EXPECT_TRUE(single.positive_definite);
  EXPECT_DOUBLE_EQ(one(0, 0), 0.125);
  EXPECT_DOUBLE_EQ(single.condition, 1);
}

TEST_P(InvertSpd, AsAccurateAsLapackAtSizesAroundTheBlocks) {
  for (const std::int64_t n : {2, 17, 127, 128, 129, 257}) {
    check<float>(backend, one_thread, n, 1e5);
    check<double>(backend, one_thread, n, 1e10);
  }
}

TEST_P(InvertSpd, ManyBlocks) {
  check<float>(backend, one_thread, 400, 1e2);
  check<float>(backend, one_thread, 520, 1e5);
  check<double>(backend, one_thread, 400, 1e3);
}

TEST_P(InvertSpd, WideBlocksOfLargeMatrices) {
  // D + v v' has the inverse D^-1 - D^-1 v v' D^-1 / (1 + v'D^-1 v).
  const std::int64_t n =
      GetParam().kind == BackendKind::reference ? 150 : 4096 + 513;  // plain loops are slow
  const Matrix<float> draws = random_matrix<float>(2, n, 5);
  Matrix<float> a(n, n);
  double total = 1;
  const auto d = [&](std::int64_t i) { return 1.5 + draws(1, i); };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) a(i, j) = draws(0, i) * draws(0, j);
    a(i, i) += static_cast<float>(d(i));
    total += draws(0, i) * draws(0, i) / d(i);
  }
  Matrix<float> serial = a;
  ASSERT_TRUE(backend->invert_spd(a.view()).positive_definite);
  ASSERT_TRUE(one_thread->invert_spd(serial.view()).positive_definite);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      ASSERT_EQ(a(i, j), serial(i, j)) << i << ", " << j;
      const double wanted = (i == j ? 1 / d(i) : 0) - draws(0, i) / d(i) * draws(0, j) / d(j) / total;
      ASSERT_NEAR(a(i, j), wanted, 2e-5) << i << ", " << j;
    }
  }
}

TEST_P(InvertSpd, SaysWhatIsNotPositiveDefinite) {
  for (const std::int64_t n : {1, 3, 128, 129, 200}) {
    SCOPED_TRACE(n);
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
      Matrix<float> indefinite = random_spd<float>(n, 100, 3);
      indefinite(at, at) = -indefinite(at, at);
      EXPECT_FALSE(backend->invert_spd(indefinite.view()).positive_definite);
      Matrix<double> singular = random_spd<double>(n, 100, 3);
      for (std::int64_t i = 0; i < n; ++i) singular(at, i) = singular(i, at) = 0;
      EXPECT_FALSE(backend->invert_spd(singular.view()).positive_definite);
      for (const float bad :
           {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        Matrix<float> spoilt = random_spd<float>(n, 100, 3);
        spoilt(at, n - 1) = spoilt(n - 1, at) = bad;
        EXPECT_FALSE(backend->invert_spd(spoilt.view()).positive_definite);
      }
    }
  }
  Matrix<float> zero(200, 200);
  EXPECT_FALSE(backend->invert_spd(zero.view()).positive_definite);
}

TEST_P(InvertSpd, AnInverseThatOverflowsIsNotOne) {
  Matrix<float> tiny(2, 2);
  tiny(0, 0) = tiny(1, 1) = std::numeric_limits<float>::denorm_min();
  const SpdInverse outcome = backend->invert_spd(tiny.view());
  EXPECT_TRUE(!outcome.positive_definite || std::isfinite(tiny(0, 0)));
}

}  // namespace
}  // namespace poise
