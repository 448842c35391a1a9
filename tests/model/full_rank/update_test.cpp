#include <algorithm>
#include <cmath>
#include <span>

#include <gtest/gtest.h>

#include "poise/linalg/vector.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/model/full_rank/kept_inverse.hpp"
#include "poise/model/full_rank/row_change.hpp"
#include "poise/model/full_rank/start.hpp"
#include "poise/solver/column_residual.hpp"

#include "support/dense_oracle.hpp"
#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using testing::DenseOracle;
using testing::random_csr;
using testing::to_dense;

/// X, and Y: three users changed (one lost all rows), 5 to 9 new ones, two new items.
struct Change {
  Csr X = random_csr(80, 30, 0.2, false, 1);
  Csr Y;
  std::vector<std::int32_t> changed = {4, 11, 50};

  explicit Change(std::int64_t new_users = 7) {
    const Csr fresh = random_csr(80 + new_users, 32, 0.2, false, 2);
    Y = {.rows = fresh.rows, .cols = 32, .offsets = {0}};
    for (std::int64_t u = 0; u < Y.rows; ++u) {
      const bool old = u < 80 && std::ranges::find(changed, u) == changed.end();
      const auto row = old ? X.view().row(u) : fresh.view().row(u);
      if (u != 11) Y.indices.insert(Y.indices.end(), row.begin(), row.end());
      Y.offsets.push_back(Y.entries());
    }
  }
};

/// Uneven weights that are the same for unchanged rows.
Weights weights(const Csr& X, bool with_b) {
  Weights W;
  W.support = X.view();
  for (std::int64_t u = 0; u < X.rows; ++u) W.a.push_back(0.5F + static_cast<float>(u % 5) / 3);
  for (std::int64_t i = 0; with_b && i < X.cols; ++i) W.b.push_back(0.6F + static_cast<float>(i % 3) / 4);
  for (std::int64_t u = 0; u < X.rows; ++u) {
    for (const std::int32_t i : X.view().row(u)) {
      W.c.push_back(static_cast<float>((u + i) % 4) - 0.5F);
      W.lowest = std::min(W.lowest, 1.0 + W.c.back());
      W.highest = std::max(W.highest, 1.0 + W.c.back());
      W.observed += W.a_of(u) * W.b_of(i) * (1.0 + W.c.back());
    }
  }
  return W;
}

template <class T>
void expect_inverse(std::int64_t new_users, double tolerance) {
  const auto backend = testing::tested_backend(2);
  const Change change(new_users);
  const Weights before = weights(change.X, false);
  const Weights after = weights(change.Y, false);
  const auto A_of = [](const Csr& X, const Weights& W) {
    const Eigen::MatrixXd dense = to_dense(X.view());
    Eigen::VectorXd a(X.rows);
    for (Eigen::Index u = 0; u < a.size(); ++u) a(u) = W.a[u];
    return Eigen::MatrixXd(dense.transpose() * a.asDiagonal() * dense +
                           3 * Eigen::MatrixXd::Identity(X.cols, X.cols));
  };
  Matrix<T> inverse(32, 32);
  const Eigen::MatrixXd exact = A_of(change.X, before).inverse();
  for (int i = 0; i < 32; ++i) {
    inverse(i, i) = static_cast<T>(1.0 / 3);
    for (int j = 0; j < 32 && i < 30; ++j)
      if (j < 30) inverse(i, j) = static_cast<T>(exact(i, j));
  }
  Resident<T> there(*backend, std::move(inverse));
  const RowChange rows =
      row_change(change.X.view(), before, change.Y.view(), after, change.changed, ChangeOf::shared_system);
  EXPECT_EQ(rows.rank(), 2 + 3 + new_users) << "one user's row is gone";
  update_inverse<T>(there, rows, *backend, {.threads = 2});
  const Matrix<T> updated = there.home();
  const Eigen::MatrixXd expected = A_of(change.Y, after).inverse();
  for (int i = 0; i < 32; ++i) {
    for (int j = 0; j < 32; ++j) EXPECT_NEAR(updated(i, j), expected(i, j), tolerance) << i << ' ' << j;
  }
}

TEST(FullRankUpdateTest, InverseInFloat64) { expect_inverse<double>(7, 1e-12); }
TEST(FullRankUpdateTest, InverseInFloat32) { expect_inverse<float>(7, 1e-6); }
TEST(FullRankUpdateTest, MoreRowsThanEnterTogether) { expect_inverse<double>(700, 1e-11); }

TEST(FullRankUpdateTest, TermsThatCancelAreLeftOut) {
  const Change change;
  const std::vector<std::int32_t> everybody = [] {
    std::vector<std::int32_t> all(80);
    for (int u = 0; u < 80; ++u) all[u] = u;
    return all;
  }();
  const Weights none;
  EXPECT_EQ(
      row_change(change.X.view(), none, change.Y.view(), none, everybody, ChangeOf::columns).rank(),
      row_change(change.X.view(), none, change.Y.view(), none, change.changed, ChangeOf::columns).rank());
  Weights heavier = weights(change.X, false);
  const Weights same = heavier;
  for (float& c : heavier.c) c += 1;
  EXPECT_EQ(
      row_change(change.X.view(), same, change.X.view(), heavier, everybody, ChangeOf::shared_system).rank(),
      0);
  EXPECT_GT(row_change(change.X.view(), same, change.X.view(), heavier, everybody, ChangeOf::columns).rank(),
            100);
}

/// No memory for Woodbury's T: every column is iterated.
FullRankOptions without_T(FullRankOptions options) {
  options.memory_limit = 1;
  return options;
}

/// The continued model against the dense optimum of the merged problem.
void expect_continued(bool weighted, bool with_b, bool zero_diagonal) {
  SCOPED_TRACE(fmt::format("weighted {} b {} zero diagonal {}", weighted, with_b, zero_diagonal));
  const auto backend = testing::tested_backend(2);
  const Change change;
  Weights before;
  Weights after;
  before.observed = static_cast<double>(change.X.entries());
  after.observed = static_cast<double>(change.Y.entries());
  if (weighted) before = weights(change.X, with_b);
  if (weighted) after = weights(change.Y, with_b);
  const FullRankOptions options{.lambda = 4, .unconstrained = !zero_diagonal, .zero_diagonal = zero_diagonal};
  FullRankBasis basis;
  basis.in_place = true;
  const FullRankFit fit = fit_full_rank(change.X.view(), before, options, *backend, {.threads = 2}, &basis);
  const FullRankSolution& old = fit.solutions.front();
  KeptInverse kept = keep_inverse(fit, basis, training_counts(change.X.view()), weighted);
  EXPECT_EQ(kept.follows_from_B(), !weighted);
  double b_bar = 1;
  if (with_b) {
    double sum = 0;
    for (int i = 0; i < 30; ++i) sum += std::log(static_cast<double>(before.b[i]));
    b_bar = std::exp(sum / 30);
  }
  const std::vector<double> l(32, 4);
  Resident<float> A_inverse = extended_inverse<float>(kept, old.B.view(), zero_diagonal, l,
                                                      std::vector<double>(2, 4 / b_bar), *backend, 2);
  update_inverse<float>(
      A_inverse,
      row_change(change.X.view(), before, change.Y.view(), after, change.changed, ChangeOf::shared_system),
      *backend, {.threads = 2});
  FullRankBasis updated;
  updated.adopt<float>(std::move(A_inverse), kept.condition);
  const RowChange columns =
      row_change(change.X.view(), before, change.Y.view(), after, change.changed, ChangeOf::columns);
  const FullRankFit result = continue_full_rank(change.Y.view(), after, without_T(options),
                                                {.l = l,
                                                 .b_bar = b_bar,
                                                 .float64 = false,
                                                 .change = columns,
                                                 .B = old.B.view(),
                                                 .h = kept.h,
                                                 .zero_diagonal = zero_diagonal},
                                                updated, *backend, {.threads = 2});
  ASSERT_EQ(result.solutions.size(), 1U);
  const FullRankSolution& solution = result.solutions.front();
  EXPECT_TRUE(solution.good());
  EXPECT_LT(solution.certificate.worst_column, 1e-6);
  const DenseOracle oracle(change.Y.view(), after, Eigen::VectorXd::Constant(32, 4));
  double largest = 0;
  for (Eigen::Index i = 0; i < 32; ++i) {
    const Eigen::VectorXd exact = oracle.solve(i, zero_diagonal);
    for (Eigen::Index j = 0; j < 32; ++j) largest = std::max(largest, std::abs(exact(j) - solution.B(j, i)));
  }
  EXPECT_LT(largest, 1e-3);
  if (weighted) {
    const FullRankFit again = fit_full_rank(change.Y.view(), after, options, *backend, {.threads = 2});
    EXPECT_NEAR(solution.objective, again.solutions.front().objective, 1e-6 * solution.objective);
    EXPECT_GT(result.iterated_columns, 0);
  }
}

TEST(FullRankUpdateTest, ContinuedModelsAreThoseOfTheMergedData) {
  for (const bool zero_diagonal : {false, true}) {
    expect_continued(false, false, zero_diagonal);
    expect_continued(true, false, zero_diagonal);
    expect_continued(true, true, zero_diagonal);
  }
}

/// Too large to be measured in a moment: the objective then follows from what the certificate knows.
TEST(FullRankUpdateTest, TheObjectiveWithoutAPassThroughTheData) {
  const auto backend = testing::tested_backend(2);
  const Csr X = random_csr(3000, 1600, 0.15, false, 1);
  const Csr more = random_csr(20, 1600, 0.15, false, 2);
  Csr Y = X;
  for (std::int64_t u = 0; u < more.rows; ++u) {
    Y.indices.insert(Y.indices.end(), more.view().row(u).begin(), more.view().row(u).end());
    Y.offsets.push_back(Y.entries());
    ++Y.rows;
  }
  Weights before;
  Weights after;
  before.observed = static_cast<double>(X.entries());
  after.observed = static_cast<double>(Y.entries());
  for (const bool zero_diagonal : {false, true}) {
    const FullRankOptions options{
        .lambda = 40, .unconstrained = !zero_diagonal, .zero_diagonal = zero_diagonal};
    FullRankBasis basis;
    basis.in_place = true;
    const FullRankFit fit = fit_full_rank(X.view(), before, options, *backend, {.threads = 2}, &basis);
    const Matrix<float>& B = fit.solutions.front().B;
    KeptInverse kept = keep_inverse(fit, basis, training_counts(X.view()), false);
    const std::vector<double> l(1600, 40);
    Resident<float> A_inverse = extended_inverse<float>(kept, B.view(), zero_diagonal, l, {}, *backend, 2);
    const RowChange change = row_change(X.view(), before, Y.view(), after, {}, ChangeOf::shared_system);
    update_inverse<float>(A_inverse, change, *backend, {.threads = 2});
    FullRankBasis updated;
    FullRankBasis strictly;
    updated.in_place = strictly.in_place = true;
    strictly.adopt<float>(A_inverse.clone(), kept.condition);
    updated.adopt<float>(std::move(A_inverse), kept.condition);
    const FullRankStart start{.l = l,
                              .b_bar = 1,
                              .float64 = false,
                              .change = change,
                              .B = B.view(),
                              .h = kept.h,
                              .zero_diagonal = zero_diagonal};
    const FullRankFit result =
        continue_full_rank(Y.view(), after, options, start, updated, *backend, {.threads = 2});
    const FullRankSolution& solution = result.solutions.front();
    EXPECT_TRUE(solution.good());
    EXPECT_EQ(result.seconds.count("objective"), 0U);
    Matrix<float> columns(1600, 1600);
    for (std::int64_t i = 0; i < 1600; ++i) {
      for (std::int64_t j = 0; j < 1600; ++j) columns(i, j) = solution.B(j, i);
    }
    std::vector<ColumnFigures> figures(1600);
    column_residuals(make_column_problem(Y.view(), after, l), numbers_from(0, 1600), columns.view(), {},
                     figures, {.threads = 2});
    double objective = 0;
    for (const ColumnFigures& column : figures) objective += column.objective;
    EXPECT_GT(solution.objective_error, 0);
    EXPECT_LT(solution.objective_error, 1e-6 * objective);
    EXPECT_NEAR(solution.objective, objective, solution.objective_error);
    // Where the tolerance is missed the columns are measured, and they are the same.
    FullRankOptions strict = options;
    strict.tolerance = 1e-12;
    const FullRankFit measured =
        continue_full_rank(Y.view(), after, strict, start, strictly, *backend, {.threads = 2});
    EXPECT_EQ(measured.seconds.count("objective"), 1U);
    const FullRankSolution& same = measured.solutions.front();
    EXPECT_LT(same.objective_error, 1e-5 * objective);
    EXPECT_NEAR(same.objective, objective, same.objective_error);
    const auto values = [](const Matrix<float>& of) { return std::span(of.view().data, 1600 * 1600); };
    EXPECT_TRUE(std::ranges::equal(values(same.B), values(solution.B)));
  }
}

/// What is solved already takes no iteration: the earlier columns are where the solver starts.
TEST(FullRankUpdateTest, NothingChangedTakesNoIterations) {
  const auto backend = testing::tested_backend(2);
  const Csr X = random_csr(80, 30, 0.2, false, 1);
  const Weights W = weights(X, false);
  const FullRankOptions options{.lambda = 4, .unconstrained = true};
  FullRankBasis basis;
  const FullRankFit fit = fit_full_rank(X.view(), W, options, *backend, {.threads = 2}, &basis);
  KeptInverse kept = keep_inverse(fit, basis, training_counts(X.view()), true);
  const std::vector<double> l(30, 4);
  const Matrix<float>& B = fit.solutions.front().B;
  FullRankBasis again;
  again.adopt<float>(extended_inverse<float>(kept, B.view(), false, l, {}, *backend, 2), kept.condition);
  RowChange nothing;
  nothing.rows.cols = 30;
  const FullRankFit result = continue_full_rank(X.view(), W, without_T(options),
                                                {.l = l,
                                                 .b_bar = 1,
                                                 .float64 = false,
                                                 .change = nothing,
                                                 .B = B.view(),
                                                 .h = kept.h,
                                                 .zero_diagonal = false},
                                                again, *backend, {.threads = 2});
  EXPECT_EQ(result.iterations, 0);
  EXPECT_TRUE(result.solutions.front().good());
}

}  // namespace
}  // namespace poise
