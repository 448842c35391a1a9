// Fits that go on from an earlier model: the same bits, whatever that model holds.
#include <gtest/gtest.h>

#include "poise/model/neighbours/fit.hpp"
#include "poise/train/update.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_csr;

constexpr std::int64_t earlier_neighbours = 4;

struct Fitted {
  NeighbourFit fit;
  Csr columns;  // B'

  Fitted(CsrView X, const Weights& W, const FullRankOptions& options,
         const EarlierColumns* earlier = nullptr) {
    const NeighbourProblem problem = make_neighbour_problem(X, W, options, 2);
    fit = fit_neighbours(problem, std::vector{earlier_neighbours}, 13, {.threads = 2}, nullptr, nullptr,
                         earlier);
    columns = transpose(rows_of(fit.solutions.front().columns).view());
  }
  [[nodiscard]] const NeighbourColumns& model() const { return fit.solutions.front().columns; }
};

/// X with a user more, who has a few items.
Csr with_user(const Csr& X, const std::vector<std::int32_t>& items) {
  Csr Y = X;
  Y.indices.insert(Y.indices.end(), items.begin(), items.end());
  Y.offsets.push_back(Y.entries());
  ++Y.rows;
  return Y;
}

TEST(EarlierNeighbours, TheSameBitsWithFewerSolves) {
  const Csr X = random_csr(300, 90, 0.03, false, 5);
  const Csr Y = with_user(X, {3, 40});
  for (const double alpha : {1.0, 3.0}) {
    const Weights before = make_weights(X.view(), {.alpha = alpha});
    const Weights after = make_weights(Y.view(), {.alpha = alpha});
    const FullRankOptions options{.lambda = 5, .unconstrained = false, .zero_diagonal = true};
    Fitted old(X.view(), before, options);
    const Fitted fresh(Y.view(), after, options);
    EarlierColumns earlier{.columns = old.columns.view(),
                           .touched = touched_items(X.view(), before, Y.view(), after, {})};
    EXPECT_EQ(std::ranges::count(earlier.touched, 1), 2);
    const Fitted updated(Y.view(), after, options, &earlier);
    EXPECT_GT(updated.fit.taken, 45);
    EXPECT_LT(updated.fit.taken, 90);
    EXPECT_EQ(updated.model().items, fresh.model().items);
    EXPECT_EQ(updated.model().values, fresh.model().values);

    // Columns that are none: none of them is proven, and all are solved.
    for (float& value : old.columns.values) value *= 1.01F;
    const Fitted solved(Y.view(), after, options, &earlier);
    EXPECT_EQ(solved.fit.taken, 0);
    EXPECT_EQ(solved.model().values, fresh.model().values);
  }
}

/// Bounds without the factor are bounds.
TEST(EarlierNeighbours, FiguresWithoutTheFactor) {
  const Csr X = random_csr(200, 60, 0.06, false, 8);
  const Weights W = make_weights(X.view(), {.alpha = 2});
  const FullRankOptions options{.lambda = 5};
  const Fitted fresh(X.view(), W, options);
  EarlierColumns earlier{
      .columns = fresh.columns.view(), .touched = std::vector<char>(60, 0), .tolerance = 1e9};
  for (const float factor : {1.0F, 1.001F, 1.1F}) {
    Csr spoiled = fresh.columns;
    for (float& value : spoiled.values) value *= factor;
    earlier.columns = spoiled.view();
    const Fitted taken(X.view(), W, options, &earlier);
    EXPECT_GT(taken.fit.taken, 50);
    const NeighbourProblem problem = make_neighbour_problem(X.view(), W, options, 1);
    const NeighbourCheck check =
        check_neighbours(problem, transpose(spoiled.view()).view(), earlier_neighbours, 60, {.threads = 1});
    for (int j = 0; j < 60; ++j) {
      const NeighbourFigures& bound = taken.fit.solutions.front().figures[j];
      const NeighbourFigures& exact = check.solution.figures[j];
      EXPECT_GE(bound.excess, exact.excess * (1 - 1e-6)) << j;
      EXPECT_NEAR(bound.explained, exact.explained, 1e-9 * exact.observed) << j;
    }
  }
}

TEST(EarlierNeighbours, TouchedItems) {
  const Csr X{.rows = 3, .cols = 6, .offsets = {0, 2, 4, 6}, .indices = {0, 1, 1, 2, 3, 4}};
  const Csr Y{.rows = 4, .cols = 7, .offsets = {0, 2, 5, 6, 8}, .indices = {0, 1, 0, 1, 3, 3, 5, 6}};
  const Weights none;
  EXPECT_EQ(touched_items(X.view(), none, Y.view(), none, std::vector<std::int32_t>{1, 2}),
            (std::vector<char>{1, 0, 1, 1, 1, 1, 1}));
  Weights before;
  Weights after;
  before.c = {1, 1, 1, 1, 1, 1};
  after.c = {1, 2, 1, 1, 1, 1, 1, 1};
  before.support = X.view();
  after.support = Y.view();
  EXPECT_EQ(touched_items(X.view(), before, Y.view(), after, std::vector<std::int32_t>{0}),
            (std::vector<char>{0, 1, 0, 0, 0, 1, 1}));
  before.a = {1, 1, 1};
  after.a = {2, 1, 1, 1};
  EXPECT_EQ(touched_items(X.view(), before, Y.view(), after, std::vector<std::int32_t>{0}),
            (std::vector<char>{1, 1, 0, 0, 0, 1, 1}));
}

}  // namespace
}  // namespace poise
