#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "poise/base/error.hpp"
#include "poise/model/full_rank/certify.hpp"
#include "poise/model/full_rank/cost.hpp"
#include "poise/model/full_rank/family.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/solver/feature_rows.hpp"
#include "poise/train/trainer.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/dense_oracle.hpp"
#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

constexpr std::int64_t items = 24;
constexpr std::int64_t cold = 4;  // the last ones, which no user has

/// Users of all items but the cold ones; the values are for the weightings that read them.
Csr interactions() {
  Csr X = testing::random_csr(60, items - cold, 0.2, true, 3, true);
  X.cols = items;
  return X;
}

/// What a fit says of the objective, the observed weight, and how far it is above the minimum.
template <class Solution>
void expect_exact(const testing::DenseOracle& oracle, const MatrixView<const float> B, bool zero_diagonal,
                  const Solution& claimed) {
  double objective = 0;
  double observed = 0;
  double excess = 0;
  for (Eigen::Index i = 0; i < oracle.X.cols(); ++i) {
    Eigen::VectorXd beta(oracle.X.cols());
    for (Eigen::Index j = 0; j < beta.size(); ++j) beta(j) = B(j, i);
    objective += oracle.objective(i, beta);
    observed += oracle.objective(i, Eigen::VectorXd::Zero(beta.size()));
    excess += oracle.excess(i, beta, zero_diagonal);
  }
  EXPECT_TRUE(claimed.converged);
  EXPECT_NEAR(claimed.objective, objective, 1e-6 * objective);
  EXPECT_NEAR(claimed.observed_weight, observed, 1e-6 * observed);
  const double explained = observed - objective;
  EXPECT_LE(excess, 1e-6 * explained);
  EXPECT_GE(1.05 * claimed.certificate.absolute, excess - 1e-10 * explained);
}

const std::vector<WeightingOptions> weightings = {{.scheme = Scheme::none},
                                                  {.scheme = Scheme::constant, .alpha = 3},
                                                  {.scheme = Scheme::constant, .alpha = 0.3},
                                                  {.scheme = Scheme::linear, .alpha = 2},
                                                  {.scheme = Scheme::user_oriented, .alpha = 2},
                                                  {.scheme = Scheme::item_oriented, .alpha = 2}};

class FeaturesTest : public ::testing::Test {
 protected:
  void check(const Csr& F, const WeightingOptions& weighting, double lambda, double beta) {
    SCOPED_TRACE(
        fmt::format("{} {} lambda {} beta {}", scheme_name(weighting.scheme), weighting.alpha, lambda, beta));
    const Weights W = make_weights({X_.view(), {}}, weighting);
    FullRankOptions options{.lambda = lambda,
                            .dropout = 0.2,
                            .unconstrained = true,
                            .zero_diagonal = true,
                            .features = F.view(),
                            .feature_weight = beta};
    const std::vector<double> l = full_rank_lambda(X_.view(), options);
    const testing::DenseOracle oracle = testing::with_features(
        {X_.view(), W, Eigen::Map<const Eigen::VectorXd>(l.data(), std::ssize(l))}, F.view(), beta, W);
    const FullRankFit fit = fit_full_rank(X_.view(), W, options, *backend_, {.threads = 2});
    ASSERT_EQ(fit.solutions.size(), 2U);
    for (const FullRankSolution& solution : fit.solutions) {
      SCOPED_TRACE(solution.zero_diagonal ? "zero diagonal" : "unconstrained");
      expect_exact(oracle, solution.B.view(), solution.zero_diagonal, solution);
      Matrix<float> columns = solution.B;
      for (std::int64_t i = 0; i < items; ++i)
        for (std::int64_t j = 0; j < items; ++j) columns(i, j) = solution.B(j, i);
      FullRankOptions alone = options;
      alone.unconstrained = !solution.zero_diagonal;
      alone.zero_diagonal = solution.zero_diagonal;
      expect_exact(oracle, solution.B.view(), solution.zero_diagonal,
                   certify_full_rank(X_.view(), W, alone, std::move(columns), *backend_, {.threads = 2}));
    }
  }

  Csr X_ = interactions();
  std::unique_ptr<Backend> backend_ = testing::tested_backend(2);
};

TEST_F(FeaturesTest, EqualsTheDenseOracleForEveryWeighting) {
  for (const bool with_values : {false, true}) {
    const Csr F = testing::random_csr(9, items, 0.3, with_values, 5);
    for (const WeightingOptions& weighting : weightings) {
      for (const double beta : {0.01, 1.0, 30.0}) check(F, weighting, 5, beta);
    }
  }
}

TEST_F(FeaturesTest, IsExactWhereFloat64IsNeeded) {
  const Csr F = testing::random_csr(9, items, 0.3, true, 6);
  for (const WeightingOptions& weighting : weightings) check(F, weighting, 1e-4, 50);
}

TEST_F(FeaturesTest, ItemsThatNobodyHasAreLearntFromFeaturesAlone) {
  const Csr F = testing::random_csr(12, items, 0.3, false, 7);
  const Weights W = make_weights({X_.view(), {}}, {});
  const auto fit = [&](double beta) {
    const FullRankOptions options{.lambda = 3,
                                  .unconstrained = false,
                                  .zero_diagonal = true,
                                  .features = F.view(),
                                  .feature_weight = beta};
    return std::move(fit_full_rank(X_.view(), W, options, *backend_, {}).solutions.front().B);
  };
  const auto of_cold_items = [](const Matrix<float>& B) {
    double sum = 0;
    for (std::int64_t j = 0; j < items; ++j) {
      for (std::int64_t i = items - cold; i < items; ++i) sum += std::abs(B(j, i)) + std::abs(B(i, j));
    }
    return sum;
  };
  EXPECT_EQ(of_cold_items(fit(0)), 0);
  EXPECT_GT(of_cold_items(fit(1)), 0.1);
}

TEST_F(FeaturesTest, WithoutWeightTheyAreThePlainModelToTheByte) {
  const Csr F = testing::random_csr(9, items, 0.3, true, 8);
  for (const WeightingOptions& weighting : weightings) {
    ModelParameters parameters{.zero_diagonal = true, .lambda = 4, .weighting = weighting};
    Trainer plain({X_.view(), {}}, Keep::nothing, 1U << 30U, *backend_, {});
    const Trained without = plain.train(parameters);
    parameters.feature_weight = 0;
    Trainer trainer({X_.view(), {}}, Keep::nothing, 1U << 30U, *backend_, {});
    trainer.use_features(F.view());
    const Trained none = trainer.train(parameters);
    const auto B = [](const Trained& trained) {
      return dynamic_cast<const FullRank&>(*trained.model).dense();
    };
    for (std::int64_t j = 0; j < items; ++j)
      EXPECT_TRUE(std::ranges::equal(B(without).row(j), B(none).row(j)));
    EXPECT_EQ(without.objective, none.objective);
    EXPECT_EQ(without.certificate.absolute, none.certificate.absolute);
  }
}

TEST_F(FeaturesTest, SharedPartsAndThreadsChangeNothing) {
  const Csr F = testing::random_csr(9, items, 0.3, true, 9);
  Trainer shared({X_.view(), {}}, Keep::shared_parts, 1U << 30U, *backend_, {.threads = 2});
  shared.use_features(F.view());
  for (const double beta : {1.0, 0.0, 2.0, 2.0}) {
    const ModelParameters parameters{
        .zero_diagonal = true, .lambda = 4, .feature_weight = beta, .weighting = {.alpha = beta + 1}};
    const auto backend = testing::tested_backend(1);
    Trainer alone({X_.view(), {}}, Keep::nothing, 1U << 30U, *backend, {.threads = 1});
    alone.use_features(F.view());
    const Trained one = shared.train(parameters);
    const Trained other = alone.train(parameters);
    for (std::int64_t j = 0; j < items; ++j)
      EXPECT_TRUE(std::ranges::equal(dynamic_cast<const FullRank&>(*one.model).dense().row(j),
                                     dynamic_cast<const FullRank&>(*other.model).dense().row(j)));
  }
}

TEST_F(FeaturesTest, RefusesWhatCannotBe) {
  const Csr F = testing::random_csr(9, items, 0.3, true, 10);
  const auto message = [&](const ModelParameters& parameters, CsrView features) -> std::string {
    Trainer trainer({X_.view(), {}}, Keep::nothing, 1U << 30U, *backend_, {});
    trainer.use_features(features);
    try {
      trainer.train(parameters);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message({.feature_weight = 2}, {}), "");
  EXPECT_EQ(message({.feature_weight = 0}, {}), "");
  EXPECT_EQ(message({.feature_weight = 1}, {}), "");
  EXPECT_NE(message({.feature_weight = -1}, F.view()), "");
  EXPECT_NE(message({.feature_weight = 1e40}, F.view()), "");
}

/// beta F'F is part of what is inverted, and so of what is kept of it for updates.
TEST_F(FeaturesTest, TheKeptInverseIsOfTheSystemWithThem) {
  const Csr F = testing::random_csr(9, items, 0.3, true, 12);
  for (const WeightingOptions& weighting : weightings) {
    for (const double lambda : {5.0, 1e-4}) {  // with an inverse in float32, and in float64
      const Weights W = make_weights({X_.view(), {}}, weighting);
      const ModelParameters parameters{
          .zero_diagonal = true, .lambda = lambda, .feature_weight = 2, .weighting = weighting};
      const FullRankOptions options = full_rank_options(parameters, 1U << 30U, F.view());
      FitContext context{X_.view(), 1U << 30U, *backend_, {}};
      const TrainedToUpdate trained = train_to_update(options, W, context);
      const ColumnProblem problem = make_column_problem(X_.view(), W, full_rank_lambda(X_.view(), options));
      const Eigen::MatrixXd X = testing::to_dense(X_.view());
      const Eigen::MatrixXd features = testing::to_dense(F.view());
      Eigen::VectorXd a(X.rows());
      for (Eigen::Index u = 0; u < X.rows(); ++u) a(u) = W.a_of(u);
      Eigen::MatrixXd A = X.cwiseSign().transpose() * a.asDiagonal() * X.cwiseSign();
      A += 2 * features.transpose() * features;
      for (Eigen::Index i = 0; i < A.rows(); ++i) A(i, i) += problem.l[i] / problem.b_bar;
      const Eigen::MatrixXd inverse = A.inverse();
      const double close = trained.kept.float64 ? 1e-9 : 1e-5;
      const auto compare = [&](const auto& kept) {
        for (std::int64_t i = 0; i < items; ++i)
          for (std::int64_t j = 0; j < items; ++j)
            EXPECT_NEAR(kept(i, j), inverse(i, j), close * inverse.cwiseAbs().maxCoeff());
      };
      if (const auto* const narrow = std::get_if<Matrix<float>>(&trained.kept.A_inverse)) compare(*narrow);
      if (const auto* const wide = std::get_if<Matrix<double>>(&trained.kept.A_inverse)) compare(*wide);
      if (problem.weighted()) continue;
      for (std::int64_t i = 0; i < items; ++i) {
        EXPECT_NEAR(trained.kept.h[i], inverse(i, i), close * inverse.cwiseAbs().maxCoeff());
      }
    }
  }
}

TEST_F(FeaturesTest, TheirGramIsExactlySymmetric) {
  const Csr F = testing::random_csr(30, 40, 0.4, true, 11);
  Resident<double> G(*backend_, 40, 40);
  FeatureRows(F.view(), 0.3).add_gram<double>(G.view(), *backend_, {.threads = 2});
  const Matrix<double> home = G.home();
  const Eigen::MatrixXd dense = testing::to_dense(F.view());
  const Eigen::MatrixXd expected = 0.3 * dense.transpose() * dense;
  for (std::int64_t i = 0; i < 40; ++i) {
    for (std::int64_t j = 0; j < 40; ++j) {
      EXPECT_EQ(home(i, j), home(j, i));
      EXPECT_NEAR(home(i, j), expected(i, j), 1e-12);
    }
  }
}

}  // namespace
}  // namespace poise
