// Certificates of columns whose explained weights are not measured, against dense float64 algebra.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "poise/linalg/vector.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/solver/column_certificate.hpp"
#include "poise/solver/column_data.hpp"
#include "poise/solver/inverse_operator.hpp"

#include "support/dense_oracle.hpp"
#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using testing::DenseOracle;
using testing::random_csr;

class DenseInverse final : public ApproximateInverse {
 public:
  explicit DenseInverse(Eigen::MatrixXd P) : P_(std::move(P)) {}
  [[nodiscard]] Matrix<double> apply(const Matrix<double>& y) override {
    Matrix<double> e(y.rows(), y.cols());
    for (std::int64_t i = 0; i < y.rows(); ++i) {
      for (std::int64_t j = 0; j < y.rows(); ++j) {
        for (std::int64_t k = 0; k < y.cols(); ++k) e(i, k) += P_(i, j) * y(j, k);
      }
    }
    return e;
  }

 private:
  Eigen::MatrixXd P_;
};

/// The certificate of the optimum with an error of this size in its columns.
void expect_covered(bool zero_diagonal, bool user_weights, double lambda, double error) {
  SCOPED_TRACE(
      fmt::format("zero diagonal {} a {} lambda {} error {}", zero_diagonal, user_weights, lambda, error));
  const auto backend = testing::tested_backend(2);
  const Execution execution{.threads = 2};
  const Csr X = random_csr(90, 40, 0.15, false, 3);
  Weights W;
  W.support = X.view();
  for (std::int64_t u = 0; u < X.rows; ++u) {
    if (user_weights) W.a.push_back(0.5F + static_cast<float>(u % 5) / 3);
    W.observed += W.a_of(u) * static_cast<double>(X.view().row_size(u));
  }
  const ColumnProblem problem = make_column_problem(X.view(), W, std::vector<double>(40, lambda));
  const ColumnData data(problem, *backend, execution);
  const DenseOracle oracle(X.view(), W, Eigen::VectorXd::Constant(40, lambda));
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  Matrix<float> columns(40, 40);
  const Eigen::MatrixXd inverse = oracle.H(0).inverse();  // the same for every column
  std::vector<double> explained(40);
  double objective = 0;
  double absolute = 0;
  double worst = 0;
  for (int i = 0; i < 40; ++i) {
    const Eigen::VectorXd exact = oracle.solve(i, zero_diagonal);
    Eigen::VectorXd saved(40);
    for (int j = 0; j < 40; ++j) {
      columns(i, j) = static_cast<float>(exact(j) + (zero_diagonal && j == i ? 0 : error * normal(random)));
      saved(j) = columns(i, j);
    }
    const double f = zero_diagonal ? 1 / inverse(i, i) - lambda : lambda * saved(i);
    explained[i] = data.observed()[i] - f;
    const double excess = oracle.excess(i, saved, zero_diagonal);
    objective += oracle.objective(i, saved);
    absolute += excess;
    worst = std::max(worst, excess / (data.observed()[i] - oracle.objective(i, saved)));
  }
  const Lent there(*backend, columns);
  ColumnCertificate proof(data.shared_system(), data.observed(), zero_diagonal, *backend, execution);
  proof.expect_measured(false);
  const std::vector<std::int32_t> all = numbers_from(0, 40);
  proof.add(all, there.view(), explained, {}, {});
  DenseInverse P(inverse);
  proof.prove(P, there.view(), 1e-6);
  const Certificate certificate = proof.certificate();
  const double relative = absolute / (W.observed - objective);
  EXPECT_GE(certificate.absolute, absolute * (1 - 1e-6));
  EXPECT_GE(certificate.relative, relative * (1 - 1e-6));
  EXPECT_GE(certificate.worst_column, worst * (1 - 1e-6));
  if (error < 1e-4) {
    EXPECT_LT(certificate.relative, 30 * relative);
    EXPECT_TRUE(proof.missing(std::max(1e-9, 100 * worst)).empty()) << worst;
  }
  EXPECT_NEAR(proof.objective().value, objective, proof.objective().error + 1e-12 * objective);

  // Measured afterwards, as where the tolerance is missed.
  proof.expect_measured(true);
  proof.add(all, there.view(), data.explained(all, there.view()), {}, {});
  proof.prove(P, there.view(), 1e-6);
  EXPECT_GE(proof.certificate().absolute, absolute * (1 - 1e-6));
  EXPECT_GE(proof.certificate().worst_column, worst * (1 - 1e-6));
  EXPECT_NEAR(proof.objective().value, objective, proof.objective().error + 1e-12 * objective);
}

TEST(UnmeasuredColumns, BoundsHoldForAnyError) {
  for (const bool zero_diagonal : {false, true}) {
    for (const double error : {0.0, 1e-5, 1e-3, 1e-2}) {
      for (const double lambda : {0.5, 20.0}) {
        expect_covered(zero_diagonal, false, lambda, error);
        expect_covered(zero_diagonal, true, lambda, error);
      }
    }
  }
}

}  // namespace
}  // namespace poise
