#include "poise/backend/row_systems.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "poise/backend/cpu/row_systems.hpp"
#include "poise/solver/row_entries.hpp"

#include "conformance/backends.hpp"
#include "support/low_rank_data.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::DenseOracle;

POISE_BACKEND_SUITE(SolveRows);

/// Items' rows over users' random factors, in the generalized eigenbasis E of Z' diag(a) Z and `R`.
struct Problem {
  Csr X;
  Csr support;
  Weights W;
  Eigen::MatrixXd dense_W;
  Eigen::MatrixXd dense_X;
  Eigen::MatrixXd Z;
  Eigen::MatrixXd R;
  Eigen::MatrixXd E;
  Eigen::VectorXd sigma;
  Matrix<float> rotated;
  RowEntries by_item;
  std::vector<double> lambdas;

  Problem(std::int64_t users, std::int32_t items, std::int64_t d, bool general_R, unsigned seed,
          bool with_C = true)
      : X(testing::grouped_matrix(users, items, seed)) {
    W = testing::uneven_weights(X, support, seed);
    if (!with_C) {
      W.c.clear();
      W.lowest = W.highest = 1;
    }
    const DenseOracle oracle(X.view(), W, Eigen::VectorXd::Ones(items));
    dense_W = oracle.W;
    dense_X = oracle.X;
    Z = testing::to_dense(testing::random_matrix<float>(users, d, seed + 1).view());
    const Eigen::MatrixXd root = testing::to_dense(testing::random_matrix<float>(d, d, seed + 2).view());
    R = general_R ? Eigen::MatrixXd(root * root.transpose() + Eigen::MatrixXd::Identity(d, d))
                  : Eigen::MatrixXd::Identity(d, d);
    Eigen::VectorXd a(users);
    for (std::int64_t u = 0; u < users; ++u) a(u) = W.a_of(u);
    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> eigen(Z.transpose() * a.asDiagonal() * Z,
                                                                          R);
    E = eigen.eigenvectors();
    sigma = eigen.eigenvalues();
    rotated = testing::to_float(Z * E);
    by_item = transpose(make_row_entries(X.view(), W, {.threads = 2}), {.threads = 2});
    for (std::int32_t i = 0; i < items; ++i) lambdas.push_back(0.5 + 0.1 * i);
  }

  [[nodiscard]] RowSystems systems() const {
    return {.factors = testing::unplaced(rotated),
            .sigma = {sigma.data(), static_cast<std::size_t>(sigma.size())},
            .b = W.b,
            .lambdas = lambdas,
            .entries = by_item.view(),
            .c = by_item.c,
            .w = by_item.w,
            .lowest = W.lowest,
            .highest = W.highest};
  }
  [[nodiscard]] Eigen::MatrixXd H(std::int64_t i) const {
    return Z.transpose() * dense_W.col(i).asDiagonal() * Z + lambdas[i] * R;
  }
  [[nodiscard]] Eigen::VectorXd g(std::int64_t i) const {
    return Z.transpose() * dense_W.col(i).cwiseProduct(dense_X.col(i));
  }
  /// What row v of item i explains: its observed weight less its objective.
  [[nodiscard]] double explained(std::int64_t i, const Eigen::VectorXd& v) const {
    return 2 * v.dot(g(i)) - v.dot(H(i) * v);
  }
  [[nodiscard]] double explained(MatrixView<const float> y) const {
    double sum = 0;
    for (std::int64_t i = 0; i < y.rows; ++i) sum += explained(i, v_of(y, i));
    return sum;
  }
  [[nodiscard]] Eigen::VectorXd v_of(MatrixView<const float> y, std::int64_t i) const {
    Eigen::VectorXd row(y.cols);
    for (std::int64_t k = 0; k < y.cols; ++k) row(k) = y(i, k);
    return E * row;
  }
  [[nodiscard]] double best() const {
    double sum = 0;
    for (std::int64_t i = 0; i < X.cols; ++i) sum += explained(i, H(i).ldlt().solve(g(i)));
    return sum;
  }
};

TEST_P(SolveRows, EveryRouteSolvesTheWeightedProblem) {
  unsigned seed = 1;
  for (const std::int64_t d : {1, 3, 16, 21, 40}) {
    for (const bool general_R : {false, true}) {
      const Problem problem(60, 23, d, general_R, ++seed);
      for (const RowRoute route : {RowRoute::counted, RowRoute::conjugate_gradients, RowRoute::direct}) {
        SCOPED_TRACE(fmt::format("d {} general {} route {}", d, general_R, static_cast<int>(route)));
        Matrix<float> y = testing::random_matrix<float>(problem.X.cols, d, 9);
        const double before = problem.explained(y.view());
        const RowsSolved solved =
            backend->solve_rows(problem.systems(), y.view(), {.relative = 1e-10, .absolute = 1e-10}, route);
        const double best = problem.best();
        EXPECT_NEAR(solved.explained_before, before, 1e-5 * (std::abs(before) + best));
        EXPECT_NEAR(solved.explained(), best, 1e-5 * (std::abs(before) + best));
        EXPECT_GE(1.0001 * solved.excess_before, best - before);
        EXPECT_LE(solved.excess_before, 1.0001 * (best - before) * problem.W.highest / problem.W.lowest);
        EXPECT_GE(problem.explained(y.view()), best * (1 - 1e-6));
        if (route != RowRoute::counted) {
          EXPECT_EQ(solved.direct_rows, route == RowRoute::direct ? problem.X.cols : 0);
        }
        for (std::int64_t i = 0; i < problem.X.cols; ++i) {
          const Eigen::VectorXd exact = problem.H(i).ldlt().solve(problem.g(i));
          EXPECT_LE((problem.v_of(y.view(), i) - exact).norm(), 2e-4 * exact.norm() + 1e-5) << "row " << i;
        }
      }
    }
  }
}

TEST_P(SolveRows, SmallSystemsAreSolvedExactlyHoweverLooseTheTolerance) {
  const Problem problem(60, 23, 4, true, 77);
  Matrix<float> y(problem.X.cols, 4);
  backend->solve_rows(problem.systems(), y.view(), {.relative = 0.1});
  for (std::int64_t i = 0; i < problem.X.cols; ++i) {
    const Eigen::VectorXd exact = problem.H(i).ldlt().solve(problem.g(i));
    EXPECT_LE((problem.v_of(y.view(), i) - exact).norm(), 1e-5 * exact.norm()) << "row " << i;
  }
}

TEST(RowSystems, ThePreconditionedSystemLiesWithinTheBounds) {
  const Problem problem(60, 23, 7, true, 31);
  ASSERT_LT(problem.W.lowest, 1);
  ASSERT_GT(problem.W.highest, 1);
  for (std::int64_t i = 0; i < problem.X.cols; ++i) {
    const Eigen::VectorXd D = problem.W.b_of(i) * problem.sigma.array() + problem.lambdas[i];
    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> eigen(
        problem.E.transpose() * problem.H(i) * problem.E, Eigen::MatrixXd(D.asDiagonal()));
    EXPECT_GE(eigen.eigenvalues().minCoeff(), problem.W.lowest - 1e-9);
    EXPECT_LE(eigen.eigenvalues().maxCoeff(), problem.W.highest + 1e-9);
  }
}

TEST_P(SolveRows, TheCheckIsTheTruthInAnyBasis) {
  const Problem problem(60, 23, 6, true, 5);
  Matrix<float> y = testing::random_matrix<float>(problem.X.cols, 6, 4);
  backend->solve_rows(problem.systems(), y.view(), {.relative = 1e-2}, RowRoute::conjugate_gradients);
  const double best = problem.best();
  const RowsChecked rotated = backend->check_rows(problem.systems(), y.view(), {}, {});
  const double truth = problem.explained(y.view());
  EXPECT_NEAR(rotated.explained, truth, 1e-6 * best);
  EXPECT_GE(rotated.excess, (best - truth) * (1 - 1e-4));
  EXPECT_LE(rotated.excess, (best - truth) * problem.W.highest / problem.W.lowest * 1.001);

  Matrix<float> v(y.rows(), y.cols());
  for (std::int64_t i = 0; i < y.rows(); ++i) {
    for (std::int64_t k = 0; k < y.cols(); ++k) v(i, k) = static_cast<float>(problem.v_of(y.view(), i)(k));
  }
  const Matrix<float> Z = testing::to_float(problem.Z);
  Matrix<double> E(6, 6);
  Matrix<double> E_inverse(6, 6);
  const Eigen::MatrixXd inverse = problem.E.inverse();
  for (std::int64_t j = 0; j < 6; ++j) {
    for (std::int64_t k = 0; k < 6; ++k) {
      E(j, k) = problem.E(j, k);
      E_inverse(j, k) = inverse(j, k);
    }
  }
  RowSystems plain = problem.systems();
  plain.factors = testing::unplaced(Z);
  const RowsChecked unrotated = backend->check_rows(plain, v.view(), E.view(), E_inverse.view());
  EXPECT_NEAR(unrotated.explained, rotated.explained, 1e-6 * best);
  EXPECT_NEAR(unrotated.excess, rotated.excess, 1e-3 * rotated.excess);
}

TEST_P(SolveRows, WithoutCorrectionsOneStepIsExact) {
  const Problem problem(60, 23, 9, false, 8, false);
  Matrix<float> y(problem.X.cols, 9);
  const RowsSolved solved = backend->solve_rows(problem.systems(), y.view(), {.relative = 1e-9});
  EXPECT_EQ(solved.most_iterations, 1);
  EXPECT_NEAR(problem.explained(y.view()), problem.best(), 1e-6 * problem.best());
}

TEST_P(SolveRows, DeadDirectionsStayAtZero) {
  Problem problem(60, 23, 8, false, 12);
  problem.lambdas.assign(23, 0.0);
  for (const std::int64_t dead : {0, 5}) {
    problem.sigma(dead) = 0;
    for (std::int64_t u = 0; u < problem.X.rows; ++u) problem.rotated(u, dead) = 0;
  }
  for (const RowRoute route : {RowRoute::conjugate_gradients, RowRoute::direct}) {
    Matrix<float> y = testing::random_matrix<float>(problem.X.cols, 8, 2);
    const RowsSolved solved = backend->solve_rows(problem.systems(), y.view(), {.relative = 1e-8}, route);
    EXPECT_TRUE(std::isfinite(solved.explained()));
    for (std::int64_t i = 0; i < y.rows(); ++i) {
      EXPECT_EQ(y(i, 0), 0);
      EXPECT_EQ(y(i, 5), 0);
      for (const float value : y.row(i)) EXPECT_TRUE(std::isfinite(value));
    }
  }
}

/// Rows of 0 to all of the users' factors, drawn by a seed, with weights of 10.
struct UnevenRows {
  Csr X;
  Weights W;
  RowEntries rows;
  Matrix<float> Z;
  std::vector<double> sigma;

  UnevenRows(std::int64_t users, std::int64_t count, std::int64_t d)
      : X{.rows = count, .cols = users, .offsets = {0}},
        Z(testing::random_matrix<float>(users, d, 6)),
        sigma(d, static_cast<double>(users) / 3) {
    std::mt19937 random(3);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int32_t u = 0; u < users; ++u) {
        if (i == 0 || (i != 7 && random() % (1 + i % 100) == 0)) X.indices.push_back(u);
      }
      X.offsets.push_back(X.entries());
    }
    W = make_weights(X.view(), {.alpha = 10});
    rows = make_row_entries(X.view(), W, {.threads = 2});
  }

  [[nodiscard]] RowSystems systems() const {
    return {.factors = testing::unplaced(Z),
            .sigma = sigma,
            .lambda = 20,
            .entries = rows.view(),
            .c = rows.c,
            .w = rows.w,
            .highest = 10};
  }
};

TEST_P(SolveRows, RowsOfAllLengthsAtAllWidths) {
  // From no entries to some thousand: every way a backend may go through a row.
  for (const std::int64_t d : {0, 1, 3, 64, 65, 130, 300, 520, 1030}) {
    SCOPED_TRACE(d);
    const UnevenRows problem(d > 500 ? 1100 : 1500, d > 500 ? 9 : 60, d);
    const RowSystems systems = problem.systems();
    Matrix<float> y = testing::random_matrix<float>(systems.entries.rows, d, 2);
    Matrix<float> serial = y;
    const RowsChecked before = backend->check_rows(systems, y.view(), {}, {});
    const RowsSolved solved = backend->solve_rows(systems, y.view(), {.relative = 1e-7});
    const RowsSolved again = one_thread->solve_rows(systems, serial.view(), {.relative = 1e-7});
    EXPECT_EQ(solved.gain, again.gain);
    EXPECT_EQ(solved.iterations, again.iterations);
    for (std::int64_t i = 0; i < y.rows(); ++i)
      ASSERT_TRUE(std::ranges::equal(y.row(i), serial.row(i))) << "row " << i;
    const RowsChecked checked = backend->check_rows(systems, y.view(), {}, {});
    const RowsChecked wanted = reference->check_rows(systems, y.view(), {}, {});
    EXPECT_NEAR(checked.explained, wanted.explained, 1e-9 * wanted.explained);
    EXPECT_NEAR(checked.excess, wanted.excess, 1e-6 * wanted.excess);
    const double scale = std::abs(before.explained) + checked.explained;
    EXPECT_NEAR(solved.explained_before, before.explained, 1e-5 * scale);
    EXPECT_NEAR(solved.explained(), checked.explained, 1e-5 * scale);
    EXPECT_NEAR(solved.excess_before, before.excess, 1e-4 * before.excess);
    EXPECT_LE(checked.excess, 2e-7 * checked.explained + 1e-12 * scale);
    for (const float value : y.row(7)) EXPECT_EQ(value, 0);
  }
}

TEST_P(SolveRows, ARowDoesNotDependOnTheOthers) {
  const UnevenRows problem(1500, 60, 70);
  RowSystems systems = problem.systems();
  Matrix<float> all(60, 70);
  backend->solve_rows(systems, all.view(), {.relative = 1e-5});
  for (const std::int64_t i : {0, 3, 7, 59}) {
    systems.entries = problem.systems().entries;
    systems.entries.rows = 1;
    systems.entries.offsets = systems.entries.offsets.subspan(i, 2);
    Matrix<float> alone(1, 70);
    backend->solve_rows(systems, alone.view(), {.relative = 1e-5});
    EXPECT_TRUE(std::ranges::equal(alone.row(0), all.row(i))) << i;
  }
}

TEST(SolveRowsOnHost, LongRowsAreTheSameWhateverTheThreadsAndTheCaches) {
  // The first row is too long for its factors to be kept, the others fill several tiles; a row ends in the
  // middle of a chunk, and one has no entries.
  const std::int64_t users = 9000;
  const std::int64_t d = 250;
  const UnevenRows problem(users, 150, d);
  const Csr& X = problem.X;
  const RowSystems systems = problem.systems();
  constexpr RowCache all_kept{.kept_floats = std::int64_t{1} << 40};
  constexpr RowCache all_together{.kept_floats = 0, .block_floats = std::int64_t{1} << 15};
  for (const RowRoute route : {RowRoute::conjugate_gradients, RowRoute::direct}) {
    Matrix<float> kept(X.rows, d);
    const RowsSolved solved =
        solve_rows(systems, kept.view(), {.relative = 1e-8}, {.threads = 1}, route, all_kept);
    for (const RowCache cache : {RowCache{}, all_together}) {
      std::vector<RowsSolved> by_threads;
      for (const int threads : {1, 2, 3}) {
        Matrix<float> y(X.rows, d);
        by_threads.push_back(
            solve_rows(systems, y.view(), {.relative = 1e-8}, {.threads = threads}, route, cache));
        for (std::int64_t i = 0; i < X.rows; ++i) {
          EXPECT_TRUE(std::ranges::equal(kept.row(i), y.row(i))) << "row " << i << ", " << threads;
        }
        EXPECT_EQ(by_threads.back().gain, by_threads.front().gain);
        EXPECT_EQ(by_threads.back().iterations, solved.iterations);
      }
      EXPECT_NEAR(by_threads.front().gain, solved.gain, 1e-12 * solved.gain);
    }
    const RowsChecked checked = check_rows(systems, kept.view(), {}, {}, {});
    EXPECT_LE(checked.excess, 2e-8 * checked.explained);
    EXPECT_NEAR(checked.explained, solved.explained(), 1e-6 * checked.explained);
  }
}

}  // namespace
}  // namespace poise
