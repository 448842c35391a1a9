#include "poise/solver/column_system.hpp"

#include <gtest/gtest.h>

#include "poise/backend/resident.hpp"
#include "poise/solver/column_checker.hpp"
#include "poise/solver/woodbury.hpp"

#include "support/low_rank_data.hpp"
#include "support/random_data.hpp"
#include "support/tested_backend.hpp"
#include "support/there.hpp"

namespace poise {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::There;

/// A small weighted problem beside its dense float64 form: A and its inverse, and every column's H.
struct ColumnCase {
  Csr X;
  Csr support;
  Weights W;
  ColumnProblem problem;
  testing::DenseOracle oracle;
  MatrixXd A;
  Matrix<double> A_inverse;
  std::vector<double> diagonal;

  explicit ColumnCase(bool with_b, unsigned seed = 3)
      : X(testing::grouped_matrix(40, 17, seed)),
        W(uneven(with_b, seed)),
        problem(make_column_problem(X.view(), W, lambdas())),
        oracle(X.view(), W, Eigen::Map<const VectorXd>(problem.l.data(), 17)),
        A_inverse(17, 17) {
    VectorXd a(X.rows);
    for (std::int64_t u = 0; u < X.rows; ++u) a(u) = W.a_of(u);
    A = oracle.X.transpose() * a.asDiagonal() * oracle.X;
    A.diagonal() += oracle.l / problem.b_bar;
    const MatrixXd inverse = A.inverse();
    for (std::int64_t i = 0; i < 17; ++i) {
      for (std::int64_t j = 0; j < 17; ++j) A_inverse(i, j) = (inverse(i, j) + inverse(j, i)) / 2;
      diagonal.push_back(A_inverse(i, i));
    }
  }

  /// H_i / b_i.
  [[nodiscard]] MatrixXd system(std::int32_t i) const { return oracle.H(i) / W.b_of(i); }

 private:
  Weights uneven(bool with_b, unsigned seed) {
    Weights weights = testing::uneven_weights(X, support, seed);
    if (!with_b) weights.b.clear();
    return weights;
  }
  static std::vector<double> lambdas() {
    std::vector<double> l;
    for (int i = 0; i < 17; ++i) l.push_back(0.5 + 0.25 * (i % 4));
    return l;
  }
};

const std::vector<std::int32_t> some_items = {2, 16, 0, 5, 9};

VectorXd row_as_vector(const Matrix<double>& matrix, std::int64_t row) {
  return Eigen::Map<const VectorXd>(matrix.row(row).data(), matrix.cols());
}

void expect_row(const Matrix<double>& got, std::int64_t row, const VectorXd& wanted, double tolerance) {
  for (std::int64_t j = 0; j < got.cols(); ++j)
    EXPECT_NEAR(got(row, j), wanted(j), tolerance * wanted.norm()) << row << ", " << j;
}

TEST(ColumnSystem, IsTheDenseSystemWithAndWithoutItsOwnCoordinate) {
  const auto backend = testing::tested_backend(2);
  for (const bool with_b : {false, true}) {
    const ColumnCase given(with_b);
    for (const bool zero_diagonal : {false, true}) {
      Matrix<double> p = testing::random_matrix<double>(5, 17, 1);
      if (zero_diagonal) {
        for (std::int64_t k = 0; k < 5; ++k) p(k, some_items[k]) = 0;
      }
      Matrix<double> Ap(5, 17);
      for (std::int64_t k = 0; k < 5; ++k) {
        const VectorXd product = given.A * row_as_vector(p, k);
        std::ranges::copy(product, Ap.row(k).begin());
      }
      ColumnSystem<double> H(given.problem, zero_diagonal, *backend);
      Matrix<double> out(5, 17);
      H.apply({some_items, There(*backend, p), There(*backend, Ap)}, There(*backend, out));
      for (std::int64_t k = 0; k < 5; ++k) {
        VectorXd wanted = given.system(some_items[k]) * row_as_vector(p, k);
        if (zero_diagonal) wanted(some_items[k]) = 0;
        expect_row(out, k, wanted, 1e-6);  // weights are float32
      }
    }
  }
}

TEST(ColumnSystem, ThePreconditionerIsTheInverseWithAndWithoutOneCoordinate) {
  const auto backend = testing::tested_backend(2);
  const ColumnCase given(true);
  for (const bool zero_diagonal : {false, true}) {
    Matrix<double> r = testing::random_matrix<double>(5, 17, 2);
    Matrix<double> z(5, 17);
    if (zero_diagonal) {
      for (std::int64_t k = 0; k < 5; ++k) r(k, some_items[k]) = 0;
    }
    const Lent A_inverse(*backend, given.A_inverse);
    const WholeInverse<double> whole(A_inverse.view(), *backend);
    ColumnPreconditioner<double> P(whole, given.diagonal, zero_diagonal, *backend);
    P.apply({some_items, There(*backend, r)}, There(*backend, z));
    for (std::int64_t k = 0; k < 5; ++k) {
      MatrixXd reduced = given.A;
      const std::int32_t i = some_items[k];
      if (zero_diagonal) {
        reduced.row(i).setZero();
        reduced.col(i).setZero();
        reduced(i, i) = 1;
      }
      expect_row(z, k, reduced.ldlt().solve(row_as_vector(r, k)), 1e-9);
    }
  }
}

TEST(ColumnSystem, LiesWithinItsBounds) {
  for (const bool with_b : {false, true}) {
    const ColumnCase given(with_b);
    for (std::int32_t i = 0; i < 17; ++i) {
      const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> eigen(given.system(i), given.A);
      EXPECT_GE(eigen.eigenvalues().minCoeff(), given.problem.lo(i) * (1 - 1e-6)) << i;
      EXPECT_LE(eigen.eigenvalues().maxCoeff(), given.problem.hi(i) * (1 + 1e-6)) << i;
    }
  }
}

TEST(Woodbury, SolvesTheDenseSystemOfEveryItem) {
  const auto backend = make_backend(BackendKind::cpu, 2);
  const ColumnCase given(false);
  const ScoresOfInverse<double> T(given.X.view(), Lent(*backend, given.A_inverse).view(), *backend);
  const MatrixXd scores = given.oracle.X * given.A.inverse();
  for (std::int64_t u = 0; u < given.X.rows; ++u) {
    for (std::int64_t j = 0; j < 17; ++j) EXPECT_NEAR(T.view()(u, j), scores(u, j), 1e-10);
  }
  std::vector<std::int32_t> items(17);
  std::iota(items.begin(), items.end(), 0);
  Matrix<double> h(17, 17);
  const Woodbury<double> woodbury(given.problem, given.A_inverse.view(), T.view());
  const std::vector<char> good = woodbury.solve(items, h.view(), {.threads = 2});
  for (std::int32_t i = 0; i < 17; ++i) {
    EXPECT_NE(good[i], 0) << i;
    expect_row(h, i, given.system(i).ldlt().solve(VectorXd::Unit(17, i)), 1e-6);
  }
}

TEST(Woodbury, CostsMoreForMoreUsers) {
  EXPECT_GT(woodbury_operations({.users = 20, .entries = 100}, 50),
            woodbury_operations({.users = 10, .entries = 50}, 50));
  EXPECT_GT(woodbury_operations({.users = 10, .entries = 50}, 500),
            woodbury_operations({.users = 10, .entries = 50}, 50));
}

/// What is proven of columns is at least the truth, and at most the bound's own looseness above it.
TEST(ColumnChecker, ProvesExcessesObjectivesAndResiduals) {
  const auto backend = testing::tested_backend(2);
  const Execution execution{.threads = 2};
  for (const bool with_b : {false, true}) {
    const ColumnCase given(with_b);
    const Resident<double> A_inverse(*backend, given.A_inverse.view());
    const ColumnData data(given.problem, *backend, execution);
    const WholeInverse<double> whole(A_inverse.view(), *backend);
    const ColumnChecker<double> checker(data, whole, {});
    for (const bool zero_diagonal : {false, true}) {
      Matrix<float> beta(5, 17);
      for (std::int64_t k = 0; k < 5; ++k) {
        const std::int32_t i = some_items[k];
        const VectorXd best = given.oracle.solve(i, zero_diagonal);
        for (std::int64_t j = 0; j < 17; ++j)
          beta(k, j) = static_cast<float>(best(j) + 0.01 * static_cast<double>((7 * j + k) % 5));
        if (zero_diagonal) beta(k, i) = 0;
      }
      const Resident<float> block(*backend, std::as_const(beta).view());
      const auto checked = checker.check(some_items, zero_diagonal, block.view());
      for (std::int64_t k = 0; k < 5; ++k) {
        const std::int32_t i = some_items[k];
        const VectorXd saved = testing::to_dense(beta.view()).row(k);
        const CheckedColumn& column = checked.columns[k];
        const double truth = given.oracle.excess(i, saved, zero_diagonal);
        EXPECT_GE(column.excess, truth * (1 - 1e-5)) << i;
        EXPECT_LE(column.excess, truth * 1.06 * given.problem.hi(i) / given.problem.lo(i)) << i;
        const double objective = given.oracle.objective(i, saved);
        EXPECT_NEAR(column.figures.objective, objective, 1e-6 * (1 + objective)) << i;
        EXPECT_NEAR(column.figures.observed, given.oracle.W.col(i).dot(given.oracle.X.col(i)),
                    1e-5 * (1 + column.figures.observed))
            << i;
      }
    }
  }
}

}  // namespace
}  // namespace poise
