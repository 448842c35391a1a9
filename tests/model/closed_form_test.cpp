#include "poise/model/closed_form.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "support/asymmetric_oracle.hpp"
#include "support/dense_oracle.hpp"
#include "support/random_data.hpp"
#include "support/tested_backend.hpp"
#include "support/there.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::There;
using testing::to_dense;
using testing::to_eigen;

constexpr Regularizer regularizers[] = {Regularizer::weight_decay, Regularizer::dropout,
                                        Regularizer::data_weight_decay};

/// The objectives as they are written, dense and in float64; `a` weighs the rows.
struct Objective {
  Eigen::MatrixXd X;
  double lambda;
  bool wmf;
  Regularizer regularizer = Regularizer::weight_decay;
  Eigen::VectorXd a = Eigen::VectorXd::Ones(X.rows());

  double operator()(const Eigen::MatrixXd& U, const Eigen::MatrixXd& V) const {
    const Eigen::MatrixXd left = wmf ? U : X * U;
    const Eigen::MatrixXd error = X - left * V.transpose();
    const double loss = (a.asDiagonal() * error).cwiseProduct(error).sum();
    if (wmf || regularizer == Regularizer::weight_decay)
      return loss + lambda * (U.squaredNorm() + V.squaredNorm());
    if (regularizer == Regularizer::dropout) return loss + lambda * (U * V.transpose()).squaredNorm();
    return loss + lambda * ((X * U).squaredNorm() + V.squaredNorm());
  }
};

Eigen::MatrixXd random_like(const Eigen::MatrixXd& matrix, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  return Eigen::MatrixXd::NullaryExpr(matrix.rows(), matrix.cols(), [&] { return uniform(random); });
}

/// Flat in every direction, and nowhere lower nearby or far away.
void expect_minimum(const Objective& objective, const Factors& factors, double claimed) {
  const Eigen::MatrixXd U = to_eigen(factors.U);
  const Eigen::MatrixXd V = to_eigen(factors.V);
  const double value = objective(U, V);
  EXPECT_NEAR(claimed, value, 1e-6 * value + 1e-9);
  std::mt19937 random(1);
  for (int trial = 0; trial < 30; ++trial) {
    const Eigen::MatrixXd dU = random_like(U, random);
    const Eigen::MatrixXd dV = random_like(V, random);
    constexpr double step = 1e-5;
    const double slope =
        (objective(U + step * dU, V + step * dV) - objective(U - step * dU, V - step * dV)) / (2 * step);
    EXPECT_LT(std::abs(slope), 1e-4 * (1 + value)) << trial;
    for (const double size : {1e-3, 1e-1, 1.0})
      EXPECT_GE(objective(U + size * dU, V + size * dV), value * (1 - 1e-6)) << trial << ", " << size;
  }
}

Spectrum spectrum_of(const Csr& X, std::int64_t count, std::span<const float> a = {}) {
  const auto backend = testing::tested_backend(1);
  return top_spectrum(X.view(), a, count, *backend, {.threads = 1});
}

/// tr G less what each of the first directions explains: (s - lambda)+^2 / s, s^2 / (s + lambda),
/// (sqrt(s) - lambda)+^2.
double closed_form_objective(Regularizer regularizer, const Spectrum& spectrum, std::int64_t rank,
                             double lambda, double observed) {
  for (std::int64_t k = 0; k < std::min(rank, spectrum.pairs()) && spectrum.s[k] > 0; ++k) {
    const double s = spectrum.s[k];
    if (regularizer == Regularizer::weight_decay) {
      observed -= std::pow(std::max(0.0, s - lambda), 2) / s;
    } else if (regularizer == Regularizer::dropout) {
      observed -= s * s / (s + lambda);
    } else {
      observed -= std::pow(std::max(0.0, std::sqrt(s) - lambda), 2);
    }
  }
  return observed;
}

/// Of unweighted matrix factorization.
Factors wmf_closed_form(const Csr& X, const Spectrum& spectrum, std::int64_t rank, double lambda) {
  Factors factors = asymmetric_closed_form(Regularizer::data_weight_decay, spectrum, rank, lambda);
  Matrix<float> U(X.rows, rank);
  CsrView support = X.view();
  support.values = {};
  const auto backend = testing::tested_backend(1);
  backend->spmm(support, Lent(*backend, factors.U).view(), There(*backend, U));
  return {std::move(U), std::move(factors.V)};
}

TEST(ClosedForm, IsTheMinimumOfEachAsymmetricModel) {
  const Csr X = random_csr(60, 24, 0.25, false, 1, true);
  const Spectrum spectrum = spectrum_of(X, 24);
  for (const Regularizer regularizer : regularizers) {
    for (const std::int64_t rank : {1, 5, 24}) {
      for (const double lambda : {0.0, 0.3, 3.0, 12.0, 1e6}) {
        SCOPED_TRACE(fmt::format("{} {} {}", regularizer_name(regularizer), rank, lambda));
        const Objective objective{to_dense(X.view()), lambda, false, regularizer};
        const Factors factors = asymmetric_closed_form(regularizer, spectrum, rank, lambda);
        ASSERT_EQ(factors.U.rows(), 24);
        ASSERT_EQ(factors.U.cols(), rank);
        expect_minimum(
            objective, factors,
            closed_form_objective(regularizer, spectrum, rank, lambda, static_cast<double>(X.entries())));
      }
    }
  }
}

TEST(ClosedForm, HoldsWithRowWeightsForWeightDecayAndDropout) {
  const Csr X = random_csr(60, 24, 0.25, false, 1, true);
  const std::vector<float> a(random_csr(1, 60, 1, true, 2).values);
  const Spectrum spectrum = spectrum_of(X, 6, a);
  double observed = 0;
  for (std::int64_t u = 0; u < 60; ++u) observed += a[u] * static_cast<double>(X.view().row_size(u));
  for (const Regularizer regularizer : {Regularizer::weight_decay, Regularizer::dropout}) {
    Objective objective{to_dense(X.view()), 3, false, regularizer};
    for (std::int64_t u = 0; u < 60; ++u) objective.a(u) = a[u];
    expect_minimum(objective, asymmetric_closed_form(regularizer, spectrum, 6, 3),
                   closed_form_objective(regularizer, spectrum, 6, 3, observed));
  }
}

TEST(ClosedForm, IsTheMinimumOfMatrixFactorization) {
  const Csr X = random_csr(40, 24, 0.25, true, 3, true);
  Csr ones = X;
  ones.values.clear();
  const Spectrum spectrum = spectrum_of(X, 24);
  for (const std::int64_t rank : {1, 5, 24}) {
    for (const double lambda : {0.0, 0.3, 2.0, 1e6}) {
      SCOPED_TRACE(fmt::format("{} {}", rank, lambda));
      const Factors factors = wmf_closed_form(X, spectrum, rank, lambda);
      ASSERT_EQ(factors.U.rows(), 40);
      ASSERT_EQ(factors.V.rows(), 24);
      expect_minimum({to_dense(ones.view()), lambda, true}, factors,
                     closed_form_objective(Regularizer::data_weight_decay, spectrum, rank, lambda,
                                           static_cast<double>(X.entries())));
    }
  }
}

TEST(ClosedForm, ColumnsBeyondTheNonzeroEigenvaluesAreZero) {
  const Csr X = random_csr(4, 10, 0.5, false, 5);  // at most 4 nonzero eigenvalues
  const Spectrum spectrum = spectrum_of(X, 10);
  const auto expect_zero_after = [](const Factors& factors, std::int64_t first) {
    ASSERT_EQ(factors.U.cols(), 15);
    ASSERT_EQ(factors.V.cols(), 15);
    for (std::int64_t k = first; k < 15; ++k) {
      for (std::int64_t i = 0; i < factors.V.rows(); ++i) ASSERT_EQ(factors.V(i, k), 0);
      for (std::int64_t i = 0; i < factors.U.rows(); ++i) ASSERT_EQ(factors.U(i, k), 0);
    }
  };
  for (const double lambda : {0.0, 0.1}) {
    for (const Regularizer regularizer : regularizers)
      expect_zero_after(asymmetric_closed_form(regularizer, spectrum, 15, lambda), 4);
    expect_zero_after(wmf_closed_form(X, spectrum, 15, lambda), 4);
  }
}

TEST(ClosedForm, NothingButZeroWhereLambdaKillsAll) {
  const Csr X = random_csr(20, 10, 0.3, false, 6);
  const Spectrum spectrum = spectrum_of(X, 10);
  for (const Regularizer regularizer : {Regularizer::weight_decay, Regularizer::data_weight_decay}) {
    const Factors factors = asymmetric_closed_form(regularizer, spectrum, 3, 1e9);
    for (std::int64_t i = 0; i < 10; ++i) {
      for (std::int64_t k = 0; k < 3; ++k) ASSERT_EQ(factors.U(i, k) + factors.V(i, k), 0);
    }
    EXPECT_EQ(closed_form_objective(regularizer, spectrum, 3, 1e9, 60), 60);
  }
  const Csr empty = random_csr(5, 4, 0, false, 1);
  const Factors none = asymmetric_closed_form(Regularizer::dropout, spectrum_of(empty, 4), 2, 0);
  for (std::int64_t i = 0; i < 4; ++i) ASSERT_EQ(none.U(i, 0) + none.V(i, 1), 0);
}

TEST(ClosedForm, AStartLeavesEveryDirectionAlive) {
  const Csr X = random_csr(60, 24, 0.25, false, 1, true);
  const Spectrum spectrum = spectrum_of(X, 24);
  for (const Regularizer regularizer : regularizers) {
    const double lambda = start_lambda(regularizer, spectrum, 8, 1e6);
    const double s = spectrum.s[7];
    EXPECT_DOUBLE_EQ(lambda, (regularizer == Regularizer::data_weight_decay ? std::sqrt(s) : s) / 2);
    EXPECT_EQ(start_lambda(regularizer, spectrum, 8, 1e-3), 1e-3);
    const Eigen::MatrixXd V = to_eigen(asymmetric_closed_form(regularizer, spectrum, 8, lambda).V);
    EXPECT_GT(V.colwise().norm().minCoeff(), 0.1);
  }
  EXPECT_DOUBLE_EQ(start_lambda(Regularizer::data_weight_decay, spectrum, 8, 1e6),
                   std::sqrt(spectrum.s[7]) / 2);
  const Spectrum deficient = spectrum_of(random_csr(4, 10, 0.5, false, 5), 10);
  EXPECT_DOUBLE_EQ(start_lambda(Regularizer::weight_decay, deficient, 9, 1e6), deficient.s[3] / 2);
}

}  // namespace
}  // namespace poise
