#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "poise/model/full_rank/cost.hpp"
#include "poise/model/neighbours/explained_share.hpp"
#include "poise/model/neighbours/fit.hpp"
#include "poise/model/neighbours/share_proof.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/dense_oracle.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::DenseOracle;

/// Users of some groups of items, with a long tail.
Csr grouped_matrix(std::int64_t users, std::int64_t items, std::int64_t groups, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform;
  Csr X{.rows = users, .cols = items, .offsets = {0}};
  for (std::int64_t u = 0; u < users; ++u) {
    const auto group = static_cast<std::int64_t>(random() % static_cast<unsigned>(groups));
    for (std::int32_t i = 0; i < items; ++i) {
      const double popularity = 0.6 / (1 + 0.2 * i);
      if (uniform(random) < (i % groups == group ? std::min(0.9, 4 * popularity) : 0.5 * popularity))
        X.indices.push_back(i);
    }
    X.offsets.push_back(X.entries());
  }
  return X;
}

/// A problem, its model, and what the dense optimum explains more of each column.
struct Compared {
  Csr X;
  Csr F;
  Weights W;
  FullRankOptions options;
  NeighbourProblem problem;
  NeighbourSolution solution;
  std::vector<double> excess = {};
  double explained = 0;

  Compared(Csr matrix, const WeightingOptions& weighting, FullRankOptions wanted, std::int64_t k)
      : X(std::move(matrix)),
        F(testing::random_csr(6, X.cols, 0.3, true, 4)),
        W(make_weights(X.view(), weighting)),
        options(wanted) {
    options.unconstrained = !options.zero_diagonal;
    options.features = F.view();
    problem = make_neighbour_problem(X.view(), W, options, 1);
    solution = std::move(fit_neighbours(problem, std::span(&k, 1), 64, {.threads = 1}).solutions.front());
    for (const NeighbourFigures& column : solution.figures) explained += column.explained;
  }

  /// By dense float64 algebra.
  void measure() {
    const DenseOracle oracle = testing::with_features(
        {X.view(), W, Eigen::Map<const Eigen::VectorXd>(problem.l.data(), std::ssize(problem.l))}, F.view(),
        options.feature_weight, W);
    for (std::int64_t j = 0; j < X.cols; ++j) {
      Eigen::VectorXd beta = Eigen::VectorXd::Zero(X.cols);
      for (std::int64_t p = 0; p < solution.columns.k; ++p)
        beta(solution.columns.support(j)[p]) = solution.columns.entries(j)[p];
      excess.push_back(oracle.excess(j, beta, options.zero_diagonal));
    }
  }
  [[nodiscard]] double sum() const {
    double sum = 0;
    for (const double column : excess) sum += column;
    return sum;
  }
};

/// Problems of every kind, by their number.
Compared random_problem(unsigned seed) {
  std::mt19937 random(seed);
  const std::int64_t items = 12 + static_cast<std::int64_t>(random() % 20);
  const std::int64_t users = 20 + static_cast<std::int64_t>(random() % 60);
  const std::vector<WeightingOptions> weightings = {{},
                                                    {.alpha = 4},
                                                    {.alpha = 0.4},
                                                    {.scheme = Scheme::user_oriented, .alpha = 2},
                                                    {.scheme = Scheme::item_oriented, .alpha = 1.5},
                                                    {.scheme = Scheme::inverse_popularity, .alpha = 2}};
  const double lambdas[] = {0.3, 3, 30, 300};
  FullRankOptions options{.lambda = lambdas[random() % 4],
                          .lambda_exponent = random() % 2 == 0 ? 0 : 0.5,
                          .dropout = random() % 3 == 0 ? 0.3 : 0,
                          .zero_diagonal = random() % 2 == 0,
                          .feature_weight = seed % 3 == 0 ? 0.5 * seed : 0};
  return {grouped_matrix(users, items, 3, seed), weightings[random() % weightings.size()], options,
          1 + static_cast<std::int64_t>(random() % 6)};
}

TEST(NeighboursShare, EveryColumnLiesBetweenItsBounds) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Compared compared = random_problem(seed);
    compared.measure();
    std::vector<std::int32_t> all;
    for (std::int32_t j = 0; j < compared.X.cols; ++j) all.push_back(j);
    const auto bounds = bound_excess(compared.problem, compared.solution.columns, all, {.threads = 2});
    for (std::int64_t j = 0; j < compared.X.cols; ++j) {
      const double rounding = 1e-9 * compared.solution.figures[j].observed;
      EXPECT_LE(bounds[j].low, compared.excess[j] * (1 + 1e-9) + rounding) << "column " << j;
      EXPECT_GE(bounds[j].high, compared.excess[j] * (1 - 1e-9) - rounding) << "column " << j;
      if (compared.excess[j] > 1e3 * rounding) {
        EXPECT_LE(bounds[j].high, excess_bounds_apart * bounds[j].low) << "column " << j;
      }
    }
  }
}

TEST(NeighboursShare, TheProofIsNeverAboveTheTruth) {
  for (unsigned seed = 100; seed < 220; ++seed) {
    SCOPED_TRACE(seed);
    Compared compared = random_problem(seed);
    compared.measure();
    // Whatever is guessed of the columns' own coordinates.
    std::vector<double> own = compared.excess;
    for (double& guess : own) guess *= static_cast<double>(seed % 3);
    const double bound = prove_excess(compared.problem, compared.solution.columns, compared.solution.figures,
                                      own, {.threads = 2});
    EXPECT_GE(bound, compared.sum() * (1 - 1e-9));
    EXPECT_LE(share_of(compared.explained, bound), share_of(compared.explained, compared.sum()) + 1e-9);
  }
}

TEST(NeighboursShare, TheProofIsNotFarBelowTheTruth) {
  Compared compared(grouped_matrix(400, 120, 4, 5), {}, {.lambda = 20, .zero_diagonal = true}, 8);
  compared.measure();
  const double bound = prove_excess(compared.problem, compared.solution.columns, compared.solution.figures,
                                    compared.excess, {.threads = 2});
  EXPECT_LE(bound, 4 * compared.sum());
}

TEST(NeighboursShare, SmallProblemsAreLookedAtWhole) {
  Compared compared(grouped_matrix(100, 40, 4, 6), {.alpha = 3}, {.lambda = 5, .zero_diagonal = true}, 5);
  compared.measure();
  EXPECT_EQ(sampled_columns(40, compared.X.entries()), 40);
  const ExcessEstimate estimate = estimate_excess(compared.problem, compared.solution.columns,
                                                  compared.solution.figures, 40, 1, {.threads = 2});
  EXPECT_TRUE(estimate.all);
  EXPECT_LE(estimate.low, compared.sum() * (1 + 1e-9));
  EXPECT_GE(estimate.high, compared.sum() * (1 - 1e-9));
  EXPECT_LE(estimate.high, excess_bounds_apart * estimate.low);
}

// What a sample says of all columns is right for 99 of 100 seeds: at least 97 here.
TEST(NeighboursShare, TheIntervalCoversTheTruth) {
  for (const bool weighted : {false, true}) {
    Compared compared(grouped_matrix(500, 300, 6, 7), {.alpha = weighted ? 6.0 : 1.0},
                      {.lambda = 10, .lambda_exponent = weighted ? 0.5 : 0, .zero_diagonal = true}, 10);
    const ExcessEstimate all = estimate_excess(compared.problem, compared.solution.columns,
                                               compared.solution.figures, 300, 1, {.threads = 2});
    int covered = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const ExcessEstimate sample = estimate_excess(compared.problem, compared.solution.columns,
                                                    compared.solution.figures, 64, seed, {.threads = 2});
      EXPECT_LE(sample.columns, 64);
      EXPECT_LT(sample.high, 1.5 * all.high) << "an interval that says nothing";
      if (sample.low <= all.low && sample.high >= all.high) ++covered;
    }
    EXPECT_GE(covered, 97);
  }
}

TEST(NeighboursShare, SameFiguresForAnyThreads) {
  Compared compared(grouped_matrix(300, 150, 5, 8), {.alpha = 3}, {.lambda = 10, .zero_diagonal = true}, 7);
  std::vector<double> figures;
  for (const int threads : {1, 2, 3}) {
    const ExcessEstimate estimate = estimate_excess(compared.problem, compared.solution.columns,
                                                    compared.solution.figures, 50, 1, {.threads = threads});
    figures.push_back(estimate.low);
    figures.push_back(prove_excess(compared.problem, compared.solution.columns, compared.solution.figures,
                                   estimate.predicted, {.threads = threads}));
  }
  EXPECT_EQ(figures[0], figures[2]);
  EXPECT_EQ(figures[0], figures[4]);
  EXPECT_EQ(figures[1], figures[3]);
  EXPECT_EQ(figures[1], figures[5]);
}

}  // namespace
}  // namespace poise
