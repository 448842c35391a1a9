#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "poise/model/full_rank/cost.hpp"
#include "poise/model/neighbours/fit.hpp"
#include "poise/weighting/weighting.hpp"

#include "comm/mailboxes.hpp"
#include "support/dense_oracle.hpp"
#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using testing::DenseOracle;

/// Items of very different popularity, with the shapes that break solvers: twins (0 and 1), an item that
/// everybody has (2), one that nobody has (3), one with a single user (4), a user with everything but item 3,
/// and users with nothing.
Csr long_tailed(std::int64_t users, std::int64_t items, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform;
  Csr X{.rows = users, .cols = items, .offsets = {0}, .indices = {}, .values = {}};
  for (std::int64_t u = 0; u < users; ++u) {
    const auto group = static_cast<std::int64_t>(random() % 5);
    for (std::int32_t i = 0; i < items; ++i) {
      double chance = 0.5 / (1 + 0.15 * i);
      if (i % 5 == group) chance = std::min(0.9, 3 * chance);
      bool has = uniform(random) < chance;
      if (i == 1) has = X.entries() > X.offsets.back() && X.indices.back() == 0;
      if (i == 2) has = true;
      if (i == 3) has = false;
      if (i == 4) has = u == 7;
      if (u == 5) has = i != 3;
      if (u == 6) has = false;
      if (has) X.indices.push_back(i);
    }
    X.offsets.push_back(X.entries());
  }
  for (std::int64_t e = 0; e < X.entries(); ++e) X.values.push_back(1.0F + static_cast<float>(random() % 4));
  return X;
}

struct NamedWeights {
  std::string name;
  Weights W;
};

/// Every weighting there is, and one from outside whose support is not that of X.
std::vector<NamedWeights> all_weights(const Csr& X, const Csr& elsewhere) {
  std::vector<NamedWeights> all;
  for (const SchemeTraits& scheme : schemes()) {
    const Scheme is = parse_scheme(scheme.name);
    all.push_back(
        {scheme.name, make_weights(X.view(), {.scheme = is, .alpha = is == Scheme::none ? 1 : 2.5})});
  }
  all.push_back({"down-weighted", make_weights(X.view(), {.alpha = 0.3})});
  std::vector<float> a(X.rows);
  std::vector<float> b(X.cols);
  for (std::int64_t u = 0; u < X.rows; ++u) a[u] = 0.5F + 0.1F * static_cast<float>(u % 11);
  for (std::int64_t i = 0; i < X.cols; ++i) b[i] = 0.7F + 0.1F * static_cast<float>(i % 7);
  all.push_back({"elsewhere", weights_on_support(X.view(), elsewhere.view(), a, b)});
  return all;
}

/// With features of the items, too; as many as there are.
std::vector<FullRankOptions> all_regularizations(double lambda, CsrView features) {
  return {{.lambda = lambda},
          {.lambda = lambda, .lambda_exponent = 0.5, .dropout = 0.3},
          {.lambda = lambda, .dropout = 0.1, .features = features, .feature_weight = 2.5},
          {.lambda = lambda, .features = features, .feature_weight = 0.1}};
}

NeighbourFit fit_of(const Csr& X, const Weights& W, FullRankOptions options, bool zero_diagonal,
                    std::vector<std::int64_t> neighbours, std::int64_t block = 37, int threads = 2) {
  options.zero_diagonal = zero_diagonal;
  options.unconstrained = !zero_diagonal;
  const NeighbourProblem problem = make_neighbour_problem(X.view(), W, options, threads);
  return fit_neighbours(problem, neighbours, block, {.threads = threads});
}

DenseOracle oracle_of(const Csr& X, const Weights& W, const FullRankOptions& options) {
  const std::vector<double> l = full_rank_lambda(X.view(), options);
  Csr binary = X;
  binary.values.clear();
  DenseOracle oracle(binary.view(), W, Eigen::Map<const Eigen::VectorXd>(l.data(), std::ssize(l)));
  if (!options.with_features()) return oracle;
  return testing::with_features(std::move(oracle), options.features, options.feature_weight, W);
}

Eigen::VectorXd column_of(const NeighbourColumns& columns, std::int64_t j) {
  Eigen::VectorXd beta = Eigen::VectorXd::Zero(columns.count);
  for (std::int64_t p = 0; p < columns.k; ++p) beta(columns.support(j)[p]) = columns.entries(j)[p];
  return beta;
}

/// The support that the definition asks for, by sorting all items.
std::vector<std::int32_t> support_of(const DenseOracle& oracle, const Weights& W,
                                     const FullRankOptions& options, std::int64_t j, std::int64_t k,
                                     bool zero_diagonal) {
  const Eigen::Index n = oracle.X.cols();
  Eigen::VectorXd a = Eigen::VectorXd::Ones(oracle.X.rows());
  const Eigen::Index users = a.size() - (options.with_features() ? options.features.rows : 0);
  for (Eigen::Index u = 0; u < a.size(); ++u) a(u) = u < users ? W.a_of(u) : options.feature_weight;
  double logs = 0;
  for (Eigen::Index i = 0; i < n; ++i) logs += std::log(W.b_of(i));
  const double b_bar = std::exp(logs / static_cast<double>(n));
  const Eigen::VectorXd G = oracle.X.transpose() * a.cwiseProduct(oracle.X.col(j));
  const Eigen::VectorXd diagonal = oracle.X.cwiseAbs2().transpose() * a + oracle.l / b_bar;
  std::vector<std::int32_t> items;
  for (std::int32_t i = 0; i < n; ++i) {
    if (i != j || !zero_diagonal) items.push_back(i);
  }
  std::ranges::stable_sort(items, std::greater<>(),
                           [&](std::int32_t i) { return G(i) * G(i) * (1 / diagonal(i)); });
  items.resize(k);
  return items;
}

/// The ridge regression on a support, dense and in float64.
Eigen::VectorXd ridge_of(const DenseOracle& oracle, std::int64_t j, std::span<const std::int32_t> support) {
  const std::vector<std::int32_t> S(support.begin(), support.end());
  Eigen::VectorXd beta = Eigen::VectorXd::Zero(oracle.X.cols());
  const Eigen::MatrixXd H = oracle.H(j)(S, S);
  const Eigen::VectorXd c = oracle.c(j)(S);
  const Eigen::VectorXd solution = H.ldlt().solve(c);
  for (std::size_t p = 0; p < S.size(); ++p) beta(S[p]) = solution(static_cast<Eigen::Index>(p));
  return beta;
}

TEST(Neighbours, AllItemsAreTheDenseModel) {
  const Csr X = long_tailed(60, 26, 1);
  const Csr elsewhere = testing::random_csr(60, 26, 0.1, true, 3);
  const Csr F = testing::random_csr(7, 26, 0.3, true, 8);
  for (const auto& [name, W] : all_weights(X, elsewhere)) {
    for (const FullRankOptions& options : all_regularizations(5, F.view())) {
      const DenseOracle oracle = oracle_of(X, W, options);
      for (const bool zero_diagonal : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} dropout {}", name, zero_diagonal, options.dropout));
        const NeighbourFit fit = fit_of(X, W, options, zero_diagonal, {1000});
        const NeighbourSolution& solution = fit.solutions.front();
        ASSERT_EQ(solution.columns.k, zero_diagonal ? 25 : 26);
        for (std::int64_t j = 0; j < 26; ++j) {
          const Eigen::VectorXd best = oracle.solve(j, zero_diagonal);
          EXPECT_LE((column_of(solution.columns, j) - best).cwiseAbs().maxCoeff(), 1e-6) << "column " << j;
        }
      }
    }
  }
}

TEST(Neighbours, LargeCataloguesAreTheDenseModel) {
  const Csr X = long_tailed(350, 250, 2);
  const Weights unweighted = make_weights(X.view(), {});
  const Weights weighted = make_weights(X.view(), {.alpha = 3});
  const auto backend = testing::tested_backend(2);
  const Csr F = testing::random_csr(20, 250, 0.1, false, 8);
  for (const Weights* W : {&unweighted, &weighted}) {
    for (const FullRankOptions& plain : all_regularizations(30, F.view())) {
      FullRankOptions options = plain;
      options.zero_diagonal = true;
      options.unconstrained = false;
      options.tolerance = 1e-13;
      const Matrix<float> dense =
          fit_full_rank(X.view(), *W, options, *backend, {.threads = 2}).solutions.front().B;
      const NeighbourFit fit = fit_of(X, *W, options, true, {249});
      const Csr rows = rows_of(fit.solutions.front().columns);
      Matrix<float> sparse(250, 250);
      for (std::int64_t i = 0; i < 250; ++i) {
        for (std::size_t e = 0; e < rows.view().row(i).size(); ++e)
          sparse(i, rows.view().row(i)[e]) = rows.view().row_values(i)[e];
      }
      double apart = 0;
      for (std::int64_t i = 0; i < 250; ++i) {
        for (std::int64_t j = 0; j < 250; ++j)
          apart = std::max(apart, std::abs(double{sparse(i, j)} - double{dense(i, j)}));
      }
      EXPECT_LE(apart, 1e-6);
    }
  }
}

TEST(Neighbours, FewItemsAreRidgeRegressionsOnTheirSupports) {
  const Csr X = long_tailed(70, 30, 4);
  const Csr elsewhere = testing::random_csr(70, 30, 0.1, true, 5);
  const Csr F = testing::random_csr(7, 30, 0.3, true, 8);
  for (const auto& [name, W] : all_weights(X, elsewhere)) {
    for (const FullRankOptions& options : all_regularizations(2, F.view())) {
      const DenseOracle oracle = oracle_of(X, W, options);
      for (const bool zero_diagonal : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} dropout {}", name, zero_diagonal, options.dropout));
        const NeighbourFit fit = fit_of(X, W, options, zero_diagonal, {3, 12});
        for (const NeighbourSolution& solution : fit.solutions) {
          for (std::int64_t j = 0; j < 30; ++j) {
            const auto support = solution.columns.support(j);
            const std::vector<std::int32_t> wanted =
                support_of(oracle, W, options, j, solution.columns.k, zero_diagonal);
            ASSERT_TRUE(std::ranges::equal(support, wanted)) << "column " << j;
            const Eigen::VectorXd best = ridge_of(oracle, j, support);
            const Eigen::VectorXd beta = column_of(solution.columns, j);
            EXPECT_LE((beta - best).cwiseAbs().maxCoeff(), 1e-6) << "column " << j;
            const NeighbourFigures& figures = solution.figures[j];
            const double zero = oracle.objective(j, Eigen::VectorXd::Zero(30));
            EXPECT_NEAR(figures.observed, zero, 1e-5 * zero + 1e-12);
            EXPECT_NEAR(figures.explained, zero - oracle.objective(j, beta), 1e-5 * zero + 1e-12);
            const Eigen::VectorXd apart = beta - best;
            const double excess = apart.dot(oracle.H(j) * apart);
            EXPECT_GE(figures.excess, excess - 1e-13 * zero);
            EXPECT_LE(figures.excess, 1e-10 * zero);
          }
        }
      }
    }
  }
}

TEST(Neighbours, ItemsThatNeverOccurTogetherFillInByIndex) {
  // Items 0, 1 | 2, 3, 4 | 5 | 6 without users.
  const Csr X{.rows = 5,
              .cols = 7,
              .offsets = {0, 2, 4, 7, 9, 10},
              .indices = {0, 1, 0, 1, 2, 3, 4, 3, 4, 5},
              .values = {}};
  const Weights W = make_weights(X.view(), {});
  const NeighbourFit fit = fit_of(X, W, {.lambda = 1}, true, {4});
  const NeighbourColumns& columns = fit.solutions.front().columns;
  const auto expect = [&](std::int64_t j, std::vector<std::int32_t> items) {
    EXPECT_TRUE(std::ranges::equal(columns.support(j), items)) << "column " << j;
  };
  expect(0, {1, 2, 3, 4});
  expect(1, {0, 2, 3, 4});
  expect(2, {3, 4, 0, 1});
  expect(3, {4, 2, 0, 1});
  expect(5, {0, 1, 2, 3});
  expect(6, {0, 1, 2, 3});
  const Csr rows = rows_of(columns);
  for (const std::int32_t j : rows.indices) EXPECT_LE(j, 4) << "a column without anything to explain it";
}

TEST(Neighbours, FeaturesWithoutWeightAreThePlainModelToTheByte) {
  const Csr X = long_tailed(70, 30, 4);
  const Csr F = testing::random_csr(7, 30, 0.3, true, 8);
  const Weights W = make_weights(X.view(), {.alpha = 2});
  const NeighbourFit plain = fit_of(X, W, {.lambda = 3}, true, {5});
  const NeighbourFit ignored = fit_of(X, W, {.lambda = 3, .features = F.view()}, true, {5});
  const NeighbourFit learnt =
      fit_of(X, W, {.lambda = 3, .features = F.view(), .feature_weight = 1}, true, {5});
  EXPECT_EQ(plain.solutions.front().columns.items, ignored.solutions.front().columns.items);
  EXPECT_EQ(plain.solutions.front().columns.values, ignored.solutions.front().columns.values);
  EXPECT_NE(plain.solutions.front().columns.values, learnt.solutions.front().columns.values);
  // Item 3, which nobody has, has features in common with others.
  const auto of_cold_item = [](const NeighbourFit& fit) {
    double sum = 0;
    for (const float value : fit.solutions.front().columns.entries(3)) sum += std::abs(value);
    return sum;
  };
  EXPECT_EQ(of_cold_item(plain), 0);
  EXPECT_GT(of_cold_item(learnt), 0.05);
}

TEST(Neighbours, SameBytesForAnyThreadsAndBlocks) {
  const Csr X = long_tailed(300, 150, 6);
  const Csr F = testing::random_csr(12, 150, 0.2, true, 8);
  for (const WeightingOptions& weighting :
       std::vector<WeightingOptions>{{},
                                     {.alpha = 4},
                                     {.scheme = Scheme::user_oriented, .alpha = 2},
                                     {.scheme = Scheme::item_oriented}}) {
    const Weights W = make_weights(X.view(), weighting);
    const FullRankOptions options{
        .lambda = 3, .features = F.view(), .feature_weight = weighting.alpha == 4 ? 0.0 : 0.7};
    const NeighbourFit one = fit_of(X, W, options, true, {20}, 150, 1);
    for (const int threads : {1, 2, 3}) {
      for (const std::int64_t block : {1, 13, 64, 150}) {
        const NeighbourFit other = fit_of(X, W, options, true, {20}, block, threads);
        EXPECT_EQ(one.solutions.front().columns.items, other.solutions.front().columns.items);
        EXPECT_EQ(one.solutions.front().columns.values, other.solutions.front().columns.values);
      }
    }
  }
}

TEST(Neighbours, OneFactorizationServesFewerNeighbours) {
  const Csr X = long_tailed(200, 80, 7);
  const Weights W = make_weights(X.view(), {.alpha = 2});
  const NeighbourFit both = fit_of(X, W, {.lambda = 3}, true, {5, 30});
  const NeighbourFit alone = fit_of(X, W, {.lambda = 3}, true, {5});
  EXPECT_EQ(both.solutions.front().columns.items, alone.solutions.front().columns.items);
  EXPECT_EQ(both.solutions.front().columns.values, alone.solutions.front().columns.values);
}

TEST(Neighbours, SeveralProcessesSolveWhatOneDoes) {
  const Csr X = long_tailed(60, 26, 4);
  const Csr elsewhere = testing::random_csr(60, 26, 0.1, true, 5);
  for (const auto& [name, W] : all_weights(X, elsewhere)) {
    SCOPED_TRACE(name);
    const NeighbourProblem problem = make_neighbour_problem(X.view(), W, {.lambda = 5}, 1);
    const std::vector<std::int64_t> neighbours = {3, 8};
    const NeighbourFit alone = fit_neighbours(problem, neighbours, 11, {.threads = 1});
    for (const int size : {2, 3, 30}) {  // 30: more than there are columns
      testing::as_processes(size, [&](Processes& processes) {
        const NeighbourFit fit = fit_neighbours(problem, neighbours, 5, {.threads = 1}, nullptr, &processes);
        if (!processes.first()) return;
        for (std::size_t k = 0; k < neighbours.size(); ++k) {
          EXPECT_EQ(fit.solutions[k].columns.items, alone.solutions[k].columns.items);
          EXPECT_EQ(fit.solutions[k].columns.values, alone.solutions[k].columns.values);
          for (std::size_t j = 0; j < fit.solutions[k].figures.size(); ++j)
            EXPECT_EQ(fit.solutions[k].figures[j].explained, alone.solutions[k].figures[j].explained);
        }
      });
    }
  }
}

}  // namespace
}  // namespace poise
