#include "poise/solver/pcg.hpp"

#include <cmath>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "support/random_data.hpp"
#include "support/tested_backend.hpp"
#include "support/there.hpp"

namespace poise {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::There;

/// Never given back: a GPU's driver may be gone before static objects are.
Backend& backend() {
  static Backend* const made = testing::tested_backend(2).release();
  return *made;
}

/// All of it as one row.
There<double> as_row(Matrix<double>& matrix) {
  const std::int64_t size = matrix.rows() * matrix.cols();
  return {backend(), MatrixView<double>{matrix.view().data, 1, size, size}};
}

/// Numbered dense systems.
class DenseSystems final : public LinearOperator<double> {
 public:
  explicit DenseSystems(std::vector<MatrixXd> systems) : systems_(std::move(systems)) {}
  void apply(const Vectors<double>& block, Out<double> out) override {
    ++applications;
    const In<double> p = block.x;
    Matrix<double> vectors(p.rows, p.cols);
    backend().download(p, vectors.view());
    for (std::int64_t k = 0; k < p.rows; ++k) {
      Eigen::Map<VectorXd> x(vectors.row(k).data(), p.cols);
      x = (systems_[block.systems[k]] * x).eval();
    }
    backend().upload(vectors.view(), out);
  }
  int applications = 0;

 private:
  std::vector<MatrixXd> systems_;
};

/// z = scale r.
class Scaling final : public LinearOperator<double> {
 public:
  explicit Scaling(double scale) : scale_(scale) {}
  void apply(const Vectors<double>& r, Out<double> z) override {
    backend().combine(std::vector<Term<double>>{{.x = r.x, .scale = scale_}}, z);
  }

 private:
  double scale_;
};

MatrixXd positive_definite(std::int64_t n, unsigned seed, double shift) {
  const Matrix<double> random = testing::random_matrix<double>(n, n, seed);
  MatrixXd A(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) A(i, j) = random(i, j);
  }
  return A * A.transpose() + shift * MatrixXd::Identity(n, n);
}

const std::function<bool(const PcgState&)> precisely = [](const PcgState& state) { return state.rz < 1e-24; };

TEST(Pcg, EachSystemHasItsOwnStepsAndItsOwnStop) {
  constexpr std::int64_t n = 6;
  const std::vector<MatrixXd> matrices = {positive_definite(n, 1, 1), MatrixXd::Identity(n, n) * 3,
                                          positive_definite(n, 2, 0.1)};
  DenseSystems H(matrices);
  Scaling M_inverse(1);
  Matrix<double> x(3, n);
  Matrix<double> r = testing::random_matrix<double>(3, n, 3);
  const Matrix<double> rhs = r;
  const auto outcomes = pcg<double>(H, M_inverse, {0, 1, 2}, There(backend(), x), There(backend(), r),
                                    {precisely, 50}, inner_product<double>(backend()), backend(), nullptr);
  EXPECT_EQ(outcomes[1].iterations, 1);  // a multiple of the identity
  for (std::int64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(outcomes[k].status, PcgStatus::solved);
    EXPECT_LE(outcomes[k].iterations, 12);
    const VectorXd wanted = matrices[k].ldlt().solve(Eigen::Map<const VectorXd>(rhs.row(k).data(), n));
    for (std::int64_t j = 0; j < n; ++j) EXPECT_NEAR(x(k, j), wanted(j), 1e-9);
  }
}

TEST(Pcg, BlocksOfOneSystemShareOneInnerProduct) {
  // Two coupled blocks of 5 unknowns, their rows one after the other in a single row, are one system: solved
  // in at most 10 steps, which steps of their own could not.
  constexpr std::int64_t n = 10;
  const MatrixXd A = positive_definite(n, 4, 0.5);
  DenseSystems H({A});
  Scaling M_inverse(1);
  Matrix<double> x(2, 5);
  Matrix<double> r = testing::random_matrix<double>(2, 5, 5);
  const VectorXd wanted = A.ldlt().solve(Eigen::Map<const VectorXd>(r.view().data, n));
  const auto outcomes = pcg<double>(H, M_inverse, {0}, as_row(x), as_row(r), {precisely, 50},
                                    inner_product<double>(backend()), backend(), nullptr);
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].status, PcgStatus::solved);
  EXPECT_LE(outcomes[0].iterations, 11);
  for (std::int64_t j = 0; j < n; ++j) EXPECT_NEAR(x.view().data[j], wanted(j), 1e-9);
}

PcgOutcome outcome_of(const MatrixXd& A, double scale, double first, int most,
                      const std::function<bool(const PcgState&)>& solved = precisely) {
  DenseSystems H({A});
  Scaling M_inverse(scale);
  Matrix<double> x(1, A.rows());
  Matrix<double> r = testing::random_matrix<double>(1, A.rows(), 6);
  r(0, 0) = first;
  return pcg<double>(H, M_inverse, {0}, There(backend(), x), There(backend(), r), {solved, most},
                     inner_product<double>(backend()), backend(), nullptr)
      .front();
}

TEST(Pcg, SaysWhyItStopped) {
  const MatrixXd A = positive_definite(8, 7, 0.01);
  EXPECT_EQ(outcome_of(A, 1, 1, 2).status, PcgStatus::out_of_iterations);
  EXPECT_EQ(outcome_of(A, 1, 1, 2).iterations, 2);
  EXPECT_EQ(outcome_of(-A, 1, 1, 50).status, PcgStatus::not_positive_definite);
  EXPECT_EQ(outcome_of(A, -1, 1, 50).status, PcgStatus::not_positive_definite);
  EXPECT_EQ(outcome_of(A, 1, std::nan(""), 50).status, PcgStatus::not_finite);
  EXPECT_EQ(outcome_of(A, 1, HUGE_VAL, 50).status, PcgStatus::not_finite);
  EXPECT_EQ(outcome_of(A * std::nan(""), 1, 1, 50).status, PcgStatus::not_finite);
}

TEST(Pcg, StagnatesWhereNoProgressIsLeft) {
  // Eigenvalues over twelve decades, nothing of which the preconditioner knows.
  VectorXd values(300);
  for (int k = 0; k < 300; ++k) values(k) = std::pow(10.0, -12.0 * k / 300);
  const PcgOutcome outcome = outcome_of(values.asDiagonal(), 1, 1, 300);
  EXPECT_EQ(outcome.status, PcgStatus::stagnated);
  EXPECT_LT(outcome.iterations, 300);
}

TEST(Pcg, NothingToDo) {
  DenseSystems H({MatrixXd::Identity(3, 3)});
  Scaling M_inverse(1);
  Matrix<double> x(1, 3, 2.0);
  Matrix<double> r(1, 3);
  const auto outcomes = pcg<double>(H, M_inverse, {0}, There(backend(), x), There(backend(), r),
                                    {precisely, 9}, inner_product<double>(backend()), backend(), nullptr);
  EXPECT_EQ(outcomes[0].status, PcgStatus::solved);
  EXPECT_EQ(outcomes[0].iterations, 0);
  EXPECT_EQ(H.applications, 0);
  EXPECT_EQ(x(0, 0), 2.0);
}

}  // namespace
}  // namespace poise
