#include "poise/model/full_rank/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "poise/base/error.hpp"
#include "poise/model/full_rank/cost.hpp"

#include "support/dense_oracle.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using testing::DenseOracle;

/// 70 users, 25 items, with the shapes that break solvers: items with one user, twins, an item that everybody
/// has and one that nobody has, users with everything and with nothing, an item whose users have nothing
/// else.
Csr awkward_matrix(unsigned seed) {
  std::mt19937 random(seed);
  Csr X{.rows = 70, .cols = 25, .offsets = {0}};
  for (std::int64_t u = 0; u < X.rows; ++u) {
    for (std::int32_t i = 0; i < X.cols; ++i) {
      bool has = random() % 100 < 10 + 2U * static_cast<unsigned>(i % 10);
      if (i == 3) has = u == 11;  // one user
      if (i == 5) has = false;    // nobody
      if (i == 6) has = true;     // everybody
      if (i == 8)
        has = !X.indices.empty() && X.indices.back() == 7 && X.entries() > X.offsets.back();  // twin of 7
      if (u == 0) has = i != 5;   // everything there is
      if (u == 1) has = false;    // nothing
      if (u >= 65) has = i == 9;  // nothing but item 9
      if (has) X.indices.push_back(i);
    }
    X.offsets.push_back(X.entries());
  }
  return X;
}

Weights constant(const Csr& X, double alpha) {
  Weights W;
  W.support = X.view();
  W.c.assign(X.entries(), static_cast<float>(alpha - 1));
  W.lowest = std::min(1.0, 1.0 + W.c.front());
  W.highest = std::max(1.0, 1.0 + W.c.front());
  W.observed = alpha * static_cast<double>(X.entries());
  if (alpha == 1) W.c.clear();
  return W;
}

/// Weights that differ in every user, item and entry, some below the background.
Weights uneven(const Csr& X, bool item_weights, bool any_sign, unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random() % 10'000) / 1e4;
  };
  Weights W;
  W.support = X.view();
  for (std::int64_t u = 0; u < X.rows; ++u) W.a.push_back(static_cast<float>(uniform(0.3, 2)));
  for (std::int64_t i = 0; item_weights && i < X.cols; ++i)
    W.b.push_back(static_cast<float>(uniform(0.4, 1.8)));
  for (std::int64_t e = 0; e < X.entries(); ++e) {
    W.c.push_back(static_cast<float>(uniform(any_sign ? -0.7 : 0.0, 3)));
    if (e % 17 == 0) W.c.back() = 0;
    W.lowest = std::min(W.lowest, 1.0 + W.c.back());
    W.highest = std::max(W.highest, 1.0 + W.c.back());
  }
  for (std::int64_t u = 0; u < X.rows; ++u) {
    for (std::int64_t e = X.offsets[u]; e < X.offsets[u + 1]; ++e)
      W.observed += W.a_of(u) * W.b_of(X.indices[e]) * (1.0 + W.c[e]);
  }
  return W;
}

/// l_i = lambda (|S_i| / g)^nu + p / (1 - p) |S_i|, g the |S|-th roots' product over the items that have
/// users.
Eigen::VectorXd lambda_of(const Csr& X, double lambda, double dropout, double nu = 0) {
  Eigen::VectorXd l(X.cols);
  const auto counts = column_counts(X.view());
  const double used = static_cast<double>(X.cols - std::ranges::count(counts, 0));
  double g = 1;
  for (const std::int64_t count : counts)
    g *= count == 0 ? 1 : std::pow(static_cast<double>(count), 1 / used);
  for (std::int64_t i = 0; i < X.cols; ++i) {
    const auto users = static_cast<double>(counts[i]);
    l(i) = lambda * std::pow(std::max(users, 1.0) / g, nu) + dropout / (1 - dropout) * users;
  }
  return l;
}

/// Everything the fit claims, against the oracle.
void expect_exact(const DenseOracle& oracle, const FullRankSolution& solution, const FullRankOptions& options,
                  double hi_over_lo) {
  double objective = 0;
  double excess = 0;
  double explained = 0;
  for (Eigen::Index i = 0; i < oracle.X.cols(); ++i) {
    Eigen::VectorXd beta(oracle.X.cols());
    for (Eigen::Index j = 0; j < beta.size(); ++j) beta(j) = solution.B(j, i);
    EXPECT_TRUE(!solution.zero_diagonal || beta(i) == 0);
    objective += oracle.objective(i, beta);
    const double column_excess = oracle.excess(i, beta, solution.zero_diagonal);
    const double observed = oracle.objective(i, Eigen::VectorXd::Zero(beta.size()));
    const double column_explained = observed - oracle.objective(i, beta);
    EXPECT_LE(column_excess, 1.05 * options.tolerance * column_explained + 1e-7 * observed + 1e-12)
        << "column " << i;
    excess += column_excess;
    explained += column_explained;
  }
  EXPECT_TRUE(solution.converged);

  EXPECT_LE(solution.certificate.worst_column, options.tolerance);
  EXPECT_NEAR(solution.objective, objective, 1e-6 * objective);
  EXPECT_GE(1.05 * solution.certificate.absolute, excess - 1e-10 * explained)
      << "the certificate is below the truth";
  if (excess > 1e-10 * explained) {
    EXPECT_LE(solution.certificate.absolute, 6 * hi_over_lo * excess)
        << "the certificate is far above the truth";
  }
  EXPECT_NEAR(solution.certificate.relative, solution.certificate.absolute / explained,
              1e-3 * solution.certificate.relative + 1e-15);
}

class FullRankFitTest : public ::testing::Test {
 protected:
  /// Fits both models at once and each alone, and compares all of them with the oracle.
  void check(const Csr& X, const Weights& W, double lambda, double dropout, double tolerance = 1e-6,
             double nu = 0) {
    SCOPED_TRACE(fmt::format("lambda {} dropout {} weights {} to {} exponent {}", lambda, dropout, W.lowest,
                             W.highest, nu));
    const DenseOracle oracle(X.view(), W, lambda_of(X, lambda, dropout, nu));
    double b_ratio = 1;
    if (!W.b.empty())
      b_ratio = *std::max_element(W.b.begin(), W.b.end()) / *std::min_element(W.b.begin(), W.b.end());
    FullRankOptions options{.lambda = lambda,
                            .lambda_exponent = nu,
                            .dropout = dropout,
                            .unconstrained = true,
                            .zero_diagonal = true,
                            .tolerance = tolerance};
    const FullRankFit both = fit_full_rank(X.view(), W, options, *backend_, {.threads = 2});
    ASSERT_EQ(both.solutions.size(), 2U);
    for (const FullRankSolution& solution : both.solutions) {
      SCOPED_TRACE(solution.zero_diagonal ? "zero diagonal" : "unconstrained");
      expect_exact(oracle, solution, options, b_ratio * W.highest / W.lowest);
      EXPECT_DOUBLE_EQ(solution.observed_weight, W.observed);
      FullRankOptions alone = options;
      alone.unconstrained = !solution.zero_diagonal;
      alone.zero_diagonal = solution.zero_diagonal;
      const FullRankFit one = fit_full_rank(X.view(), W, alone, *backend_, {.threads = 1});
      expect_exact(oracle, one.solutions.front(), alone, b_ratio * W.highest / W.lowest);
    }
  }

  std::unique_ptr<Backend> backend_ = testing::tested_backend(2);
};

TEST_F(FullRankFitTest, UnweightedAtEveryLambda) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const Csr X = awkward_matrix(seed);
    Weights W;
    W.observed = static_cast<double>(X.entries());
    for (const double lambda : {1e-4, 1e-2, 1.0, 100.0, 1e4, 1e6}) check(X, W, lambda, 0);
    check(X, W, 3, 0.33);
  }
}

TEST_F(FullRankFitTest, ConstantWeights) {
  const Csr X = awkward_matrix(4);
  for (const double alpha : {1.0, 2.0, 20.0, 1000.0, 0.5, 0.2}) {
    for (const double lambda : {1e-4, 1.0, 100.0, 1e6}) check(X, constant(X, alpha), lambda, 0);
    check(X, constant(X, alpha), 5, 0.25);
  }
}

TEST_F(FullRankFitTest, UnevenWeights) {
  const Csr X = awkward_matrix(5);
  for (const bool item_weights : {false, true}) {
    for (const bool any_sign : {false, true}) {
      for (const double lambda : {1e-3, 1.0, 300.0})
        check(X, uneven(X, item_weights, any_sign, 7), lambda, 0.1);
    }
  }
}

TEST_F(FullRankFitTest, PopularityDependentLambda) {
  const Csr X = awkward_matrix(16);
  Weights unweighted;
  unweighted.observed = static_cast<double>(X.entries());
  for (const double nu : {-0.5, 0.5, 1.0}) {
    for (const double dropout : {0.0, 0.3}) {
      for (const double lambda : {1e-3, 3.0, 1e3}) {
        check(X, unweighted, lambda, dropout, 1e-6, nu);
        for (const double alpha : {0.3, 5.0}) check(X, constant(X, alpha), lambda, dropout, 1e-6, nu);
        for (const bool item_weights : {false, true})
          check(X, uneven(X, item_weights, true, 21), lambda, dropout, 1e-6, nu);
      }
    }
  }
}

/// Fits whose Lambda differs in its exponent alone share no inverse.
TEST_F(FullRankFitTest, ABasisIsOfOneExponent) {
  const Csr X = awkward_matrix(17);
  FullRankBasis basis;
  for (const double nu : {0.0, 0.5, 0.0, -0.5}) {
    const FullRankOptions options{.lambda = 3, .lambda_exponent = nu};
    const FullRankFit shared = fit_full_rank(X.view(), constant(X, 4), options, *backend_, {}, &basis);
    const FullRankFit alone = fit_full_rank(X.view(), constant(X, 4), options, *backend_, {});
    for (std::int64_t j = 0; j < X.cols; ++j)
      EXPECT_TRUE(std::ranges::equal(shared.solutions[0].B.row(j), alone.solutions[0].B.row(j))) << nu;
  }
}

TEST_F(FullRankFitTest, LambdaOfAnItem) {
  const Csr X = awkward_matrix(18);
  const std::vector<std::int64_t> counts = column_counts(X.view());
  ASSERT_EQ(counts[5], 0);
  EXPECT_EQ(full_rank_lambda(X.view(), {.lambda = 7}), std::vector<double>(25, 7.0));
  const std::vector<double> l = full_rank_lambda(X.view(), {.lambda = 7, .lambda_exponent = 0.5});
  double logs = 0;
  for (std::size_t i = 0; i < l.size(); ++i) {
    EXPECT_NEAR(l[i] / l[5], std::sqrt(static_cast<double>(std::max<std::int64_t>(counts[i], 1))), 1e-12);
    if (counts[i] > 0) logs += std::log(l[i] / 7);
  }
  EXPECT_NEAR(logs, 0, 1e-12) << "the geometric mean over items with users stays lambda";
  Csr empty{.rows = 2, .cols = 3, .offsets = {0, 0, 0}};
  EXPECT_EQ(full_rank_lambda(empty.view(), {.lambda = 7, .lambda_exponent = 2}), std::vector<double>(3, 7.0));
}

TEST_F(FullRankFitTest, ExponentsThatMeanNothing) {
  const Csr X = awkward_matrix(19);
  for (const double nu : {std::nan(""), std::numeric_limits<double>::infinity(), 1e3, -4.5})
    EXPECT_THROW(validate(FullRankOptions{.lambda_exponent = nu}), Error) << nu;
  EXPECT_NO_THROW(validate(FullRankOptions{.lambda_exponent = -1.5}));
  try {
    full_rank_lambda(X.view(), {.lambda = 1e29, .lambda_exponent = 4});
    ADD_FAILURE() << "an l_i beyond float32";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("lambda-exponent 4"), std::string::npos) << error.what();
  }
}

TEST_F(FullRankFitTest, ConjugateGradientsAndWoodburyAgree) {
  const Csr X = awkward_matrix(6);
  const Weights W = constant(X, 20);
  FullRankOptions options{.lambda = 2, .tolerance = 1e-9};
  const FullRankFit direct = fit_full_rank(X.view(), W, options, *backend_, {});
  options.memory_limit = full_rank_memory(X.view(), true, 1).least;
  const FullRankFit iterated = fit_full_rank(X.view(), W, options, *backend_, {});
  EXPECT_EQ(direct.direct_columns > 0, !backend_->traits().own_memory);  // a GPU has no use for it
  EXPECT_EQ(iterated.direct_columns, 0);
  EXPECT_GT(iterated.iterations, 2);
  for (std::int64_t j = 0; j < X.cols; ++j) {
    for (std::int64_t i = 0; i < X.cols; ++i)
      EXPECT_NEAR(direct.solutions[0].B(j, i), iterated.solutions[0].B(j, i), 2e-5);
  }
}

TEST_F(FullRankFitTest, WeightsOnOtherEntriesThanX) {
  const Csr X = awkward_matrix(7);
  const Csr other = awkward_matrix(8);
  Weights W = uneven(other, true, true, 9);
  W.support = other.view();
  W.observed = 0;
  const DenseOracle dense(X.view(), W, lambda_of(X, 1, 0));
  W.observed = dense.W.cwiseProduct(dense.X).sum();
  check(X, W, 1, 0);
}

TEST_F(FullRankFitTest, AnotherTargetThanX) {
  const Csr X = awkward_matrix(10);
  Csr Y = awkward_matrix(11);
  std::mt19937 random(1);
  for (std::int64_t e = 0; e < Y.entries(); ++e) Y.values.push_back(static_cast<float>(random() % 5) - 1);
  for (const bool item_weights : {false, true}) {
    const Weights W = uneven(X, item_weights, true, 12);
    DenseOracle oracle(X.view(), W, lambda_of(X, 4, 0));
    oracle.Y = testing::to_dense(Y.view());
    const FullRankOptions options{.lambda = 4};
    const CsrView target = Y.view();
    const FullRankFit fit = fit_full_rank(X.view(), W, options, *backend_, {}, nullptr, &target);
    expect_exact(oracle, fit.solutions.front(), options, 5 * W.highest / W.lowest);
  }
  const CsrView target = Y.view();
  EXPECT_THROW(
      fit_full_rank(X.view(), constant(X, 2), {.zero_diagonal = true}, *backend_, {}, nullptr, &target),
      Error);
}

TEST_F(FullRankFitTest, SameBytesForAnyThreadCount) {
  const Csr X = awkward_matrix(13);
  for (const double alpha : {1.0, 5.0}) {
    for (const bool woodbury : {true, false}) {
      FullRankOptions options{.lambda = 3, .unconstrained = true, .zero_diagonal = true};
      if (!woodbury) options.memory_limit = full_rank_memory(X.view(), true, 2).least;
      std::vector<std::vector<float>> seen;
      for (const int threads : {1, 2, 5}) {
        const auto backend = testing::tested_backend(threads);
        const FullRankFit fit =
            fit_full_rank(X.view(), constant(X, alpha), options, *backend, {.threads = threads});
        std::vector<float> bytes;
        for (const FullRankSolution& solution : fit.solutions) {
          for (std::int64_t j = 0; j < X.cols; ++j)
            bytes.insert(bytes.end(), solution.B.row(j).begin(), solution.B.row(j).end());
        }
        seen.push_back(bytes);
      }
      EXPECT_EQ(seen[0], seen[1]);
      EXPECT_EQ(seen[0], seen[2]);
    }
  }
}

/// A basis that other fits have filled, with other weights and in another precision, and the other model
/// beside it change no bit.
TEST_F(FullRankFitTest, SharingChangesNothing) {
  const Csr X = awkward_matrix(15);
  for (const bool woodbury : {true, false}) {
    FullRankBasis basis;
    for (const double lambda : {3.0, 1e-5}) {
      for (const double alpha : {5.0, 1.0, 0.5, 5.0, 40.0}) {
        SCOPED_TRACE(fmt::format("lambda {} alpha {} woodbury {}", lambda, alpha, woodbury));
        FullRankOptions options{.lambda = lambda, .unconstrained = true, .zero_diagonal = true};
        if (!woodbury) {
          options.memory_limit = full_rank_memory(X.view(), true, 2).least + sizeof(float) * X.cols * X.cols;
        }
        const Weights W = constant(X, alpha);
        const FullRankFit shared = fit_full_rank(X.view(), W, options, *backend_, {}, &basis);
        ASSERT_EQ(shared.solutions.size(), 2U);
        for (const FullRankSolution& solution : shared.solutions) {
          FullRankOptions alone = options;
          alone.unconstrained = !solution.zero_diagonal;
          alone.zero_diagonal = solution.zero_diagonal;
          const FullRankFit fit = fit_full_rank(X.view(), W, alone, *backend_, {});
          const FullRankSolution& one = fit.solutions.front();
          EXPECT_EQ(solution.objective, one.objective);
          EXPECT_EQ(solution.certificate.absolute, one.certificate.absolute);
          EXPECT_EQ(solution.certificate.worst_column, one.certificate.worst_column);
          for (std::int64_t j = 0; j < X.cols; ++j)
            EXPECT_TRUE(std::ranges::equal(solution.B.row(j), one.B.row(j)));
        }
      }
    }
  }
}

TEST_F(FullRankFitTest, RefusesWhatCannotBe) {
  const Csr X = awkward_matrix(14);
  const Weights W = constant(X, 2);
  const auto kind = [&](const FullRankOptions& options) {
    try {
      fit_full_rank(X.view(), W, options, *backend_, {});
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::interrupted;
  };
  EXPECT_EQ(kind({.lambda = 0}), ErrorKind::usage);
  EXPECT_EQ(kind({.lambda = -1}), ErrorKind::usage);
  EXPECT_EQ(kind({.lambda = NAN}), ErrorKind::usage);
  EXPECT_EQ(kind({.dropout = 1}), ErrorKind::usage);
  EXPECT_EQ(kind({.tolerance = 0}), ErrorKind::usage);
  EXPECT_EQ(kind({.memory_limit = 1000}), ErrorKind::resources);
  EXPECT_EQ(kind({.lambda = 1e-30}), ErrorKind::numerical);
}

}  // namespace
}  // namespace poise
