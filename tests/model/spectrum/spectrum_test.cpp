#include "poise/model/spectrum/spectrum.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "poise/model/spectrum/routes.hpp"

#include "support/asymmetric_oracle.hpp"
#include "support/dense_oracle.hpp"
#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::to_dense;
using testing::to_eigen;

Eigen::MatrixXd gram_of(CsrView X, std::span<const float> a) {
  X.values = {};
  const Eigen::MatrixXd dense = to_dense(X);
  Eigen::MatrixXd weighted = dense;
  for (std::size_t u = 0; u < a.size(); ++u) weighted.row(static_cast<Eigen::Index>(u)) *= a[u];
  return dense.transpose() * weighted;
}

/// Values as Eigen has them, vectors orthonormal and eigenvectors, signs fixed.
void expect_pairs_of(CsrView X, std::span<const float> a, const Spectrum& spectrum, std::int64_t count) {
  const Eigen::MatrixXd G = gram_of(X, a);
  ASSERT_EQ(spectrum.pairs(), count);
  ASSERT_EQ(spectrum.Q.rows(), X.cols);
  ASSERT_EQ(spectrum.Q.cols(), count);
  if (count == 0) return;
  const Eigen::VectorXd wanted = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(G).eigenvalues().reverse();
  const double scale = std::max(wanted(0), 1e-300);
  for (std::int64_t k = 0; k < count; ++k) {
    EXPECT_GE(spectrum.s[k], 0) << k;
    EXPECT_NEAR(spectrum.s[k], std::max(0.0, wanted(k)), 1e-7 * wanted(k) + 1e-11 * scale) << k;
  }
  const Eigen::MatrixXd Q = to_eigen(spectrum.Q);
  const Eigen::MatrixXd orthonormality = Q.transpose() * Q - Eigen::MatrixXd::Identity(count, count);
  EXPECT_LT(orthonormality.cwiseAbs().maxCoeff(), 1e-6);
  const Eigen::Map<const Eigen::VectorXd> s(spectrum.s.data(), count);
  const Eigen::MatrixXd residual = G * Q - Q * s.asDiagonal();
  EXPECT_LT(residual.colwise().norm().maxCoeff(), 1e-6 * scale);
  for (std::int64_t k = 0; k < count; ++k) {
    Eigen::Index largest = 0;
    Q.col(k).cwiseAbs().maxCoeff(&largest);
    EXPECT_GT(Q(largest, k), 0) << k;
  }
}

Spectrum spectrum_of(CsrView X, std::span<const float> a, std::int64_t count, int threads = 1) {
  const auto backend = testing::tested_backend(threads);
  return top_spectrum(X, a, count, *backend, {.threads = threads});
}

TEST(Spectrum, LikeEigenWithAndWithoutRowWeights) {
  const Csr X = random_csr(90, 40, 0.2, true, 1, true);
  const std::vector<float> a(random_csr(1, 90, 1, true, 2).values);
  for (const std::int64_t count : {0, 1, 7, 40}) {
    SCOPED_TRACE(count);
    expect_pairs_of(X.view(), {}, spectrum_of(X.view(), {}, count), count);
    expect_pairs_of(X.view(), a, spectrum_of(X.view(), a, count), count);
  }
}

TEST(Spectrum, AskedForMoreThanThereAreItGivesAll) {
  const Csr X = random_csr(30, 12, 0.3, false, 3);
  expect_pairs_of(X.view(), {}, spectrum_of(X.view(), {}, 100), 12);
}

TEST(Spectrum, ZerosOfARankDeficientMatrixAreZero) {
  const Csr X = random_csr(6, 50, 0.3, false, 4);
  const Spectrum spectrum = spectrum_of(X.view(), {}, 20);
  expect_pairs_of(X.view(), {}, spectrum, 20);
  for (std::int64_t k = 6; k < 20; ++k) EXPECT_EQ(spectrum.s[k], 0) << k;
}

using Route = EigenPairs (*)(CsrView, std::span<const float>, std::int64_t, Backend&, const Execution&);

/// Each route on the same problems.
class SpectrumRoute : public ::testing::TestWithParam<Route> {
 protected:
  static EigenPairs run(CsrView X, std::span<const float> a, std::int64_t count, int threads = 1) {
    const auto backend = testing::tested_backend(threads);
    return GetParam()(X, a, count, *backend, {.threads = threads});
  }

  static void expect_right(CsrView X, std::span<const float> a, std::int64_t count) {
    const EigenPairs pairs = run(X, a, count);
    const Eigen::MatrixXd G = gram_of(X, a);
    const Eigen::VectorXd wanted = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(G).eigenvalues().reverse();
    ASSERT_EQ(pairs.s.size(), count);
    Eigen::MatrixXd Q(X.cols, count);
    for (std::int64_t k = 0; k < count; ++k) {
      EXPECT_NEAR(pairs.s[k], wanted(k), 1e-9 * wanted(k) + 1e-11 * wanted(0)) << k;
      for (std::int64_t i = 0; i < X.cols; ++i) Q(i, k) = pairs.Q(i, k);
    }
    EXPECT_LT((Q.transpose() * Q - Eigen::MatrixXd::Identity(count, count)).cwiseAbs().maxCoeff(), 1e-10);
    const Eigen::Map<const Eigen::VectorXd> s(pairs.s.data(), count);
    EXPECT_LT((G * Q - Q * s.asDiagonal()).colwise().norm().maxCoeff(), 2e-6 * wanted(0));
  }
};
INSTANTIATE_TEST_SUITE_P(Routes, SpectrumRoute, ::testing::Values(dense_top_pairs, krylov_top_pairs),
                         [](const auto& info) { return info.param == dense_top_pairs ? "dense" : "krylov"; });

TEST_P(SpectrumRoute, ManyItems) {
  const Csr X = random_csr(700, 600, 0.03, true, 5, true);
  const std::vector<float> a(random_csr(1, 700, 1, true, 6).values);
  expect_right(X.view(), {}, 40);
  expect_right(X.view(), a, 41);
}

TEST_P(SpectrumRoute, ManyUsers) {
  const Csr X = random_csr(40'000, 90, 0.02, true, 10, true);
  const std::vector<float> a(random_csr(1, 40'000, 1, true, 11).values);
  expect_right(X.view(), {}, 12);
  expect_right(X.view(), a, 12);
}

TEST_P(SpectrumRoute, MoreCopiesOfAnEigenvalueThanABlockIsWide) {
  // Disjoint pairs of items: 150 times the eigenvalue 4 (two users each), 150 times 2, and 0.
  Csr X{.rows = 450, .cols = 600, .offsets = {0}};
  for (std::int32_t u = 0; u < 450; ++u) {
    const std::int32_t pair = u < 300 ? u / 2 : u - 150;
    X.indices.insert(X.indices.end(), {2 * pair, 2 * pair + 1});
    X.offsets.push_back(X.entries());
  }
  expect_right(X.view(), {}, 100);
  expect_right(X.view(), {}, 160);
  expect_right(X.view(), {}, 310);
}

TEST_P(SpectrumRoute, FewerUsersThanPairs) {
  expect_right(random_csr(20, 500, 0.2, false, 7).view(), {}, 60);
}

TEST_P(SpectrumRoute, AllPairs) { expect_right(random_csr(300, 150, 0.1, false, 8).view(), {}, 150); }

TEST_P(SpectrumRoute, TheSameBytesOnAnyNumberOfThreads) {
  const Csr X = random_csr(900, 700, 0.03, false, 9);
  const EigenPairs one = run(X.view(), {}, 50, 1);
  for (const int threads : {2, 3}) {
    const EigenPairs more = run(X.view(), {}, 50, threads);
    EXPECT_EQ(more.s, one.s);
    for (std::int64_t i = 0; i < 700; ++i) EXPECT_TRUE(std::ranges::equal(more.Q.row(i), one.Q.row(i))) << i;
  }
}

TEST(Spectrum, EmptyMatrices) {
  for (const auto& [rows, cols] : {std::pair{0, 0}, {5, 0}, {0, 5}, {5, 4}}) {
    const Csr X = random_csr(rows, cols, 0, false, 1);
    const Spectrum spectrum = spectrum_of(X.view(), {}, 3);
    const std::int64_t count = std::min(cols, 3);
    ASSERT_EQ(spectrum.pairs(), count);
    for (const double s : spectrum.s) EXPECT_EQ(s, 0);
    const Eigen::MatrixXd Q = to_eigen(spectrum.Q);
    EXPECT_LT((Q.transpose() * Q - Eigen::MatrixXd::Identity(count, count)).norm(), 1e-6);
  }
}

}  // namespace
}  // namespace poise
