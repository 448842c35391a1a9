#include "poise/model/wmf/wmf.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "poise/model/wmf/fit.hpp"

#include "support/low_rank_data.hpp"
#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using testing::to_dense;

struct Trained {
  Csr X;
  Weights W;
  WmfTraining training;
  LowRankFit fit;
};

Trained train(const WeightingOptions& weighting, double exponent, bool with_values) {
  Trained trained{testing::grouped_matrix(60, 24, 1), {}, {}, {}};
  if (with_values) {
    for (std::int64_t e = 0; e < trained.X.entries(); ++e)
      trained.X.values.push_back(1 + static_cast<float>(e % 5));
  }
  trained.W = make_weights(trained.X.view(), weighting);
  WmfOptions options;
  options.rank = 6;
  options.lambda = 1.5;
  options.lambda_exponent = exponent;
  options.alpha = weighting.alpha;
  options.start = Start::random;
  const auto backend = testing::tested_backend(2);
  trained.fit = fit_wmf(trained.X.view(), trained.W, options, {}, *backend, {.threads = 2});
  trained.training = {.weighting = weighting,
                      .lambda = options.regularization(),
                      .users = trained.X.rows,
                      .item_users = column_counts(trained.X.view())};
  return trained;
}

/// Rows of X folded in densely: what training would solve with V fixed.
Eigen::MatrixXd scores_of(const Trained& trained) {
  const testing::DenseOracle oracle(trained.X.view(), trained.W, Eigen::VectorXd::Ones(trained.X.cols));
  const Eigen::MatrixXd V = to_dense(trained.fit.V.view());
  Eigen::MatrixXd scores(trained.X.rows, trained.X.cols);
  for (std::int64_t u = 0; u < trained.X.rows; ++u) {
    const Eigen::VectorXd w = oracle.W.row(u).transpose();
    Eigen::MatrixXd H = V.transpose() * w.asDiagonal() * V;
    H.diagonal().array() += trained.training.lambda.of(trained.X.view().row_size(u), trained.X.cols);
    scores.row(u) = V * H.ldlt().solve(V.transpose() * w.cwiseProduct(oracle.X.row(u).transpose()));
  }
  return scores;
}

const std::vector<WeightingOptions> schemes = {{.scheme = Scheme::constant, .alpha = 10},
                                               {.scheme = Scheme::linear, .alpha = 2},
                                               {.scheme = Scheme::user_oriented, .alpha = 5},
                                               {.scheme = Scheme::item_oriented, .alpha = 0.5}};

TEST(Wmf, FoldsInAsTrainingSolves) {
  for (const WeightingOptions& weighting : schemes) {
    for (const double exponent : {0.0, 1.0}) {
      SCOPED_TRACE(fmt::format("{} exponent {}", scheme_name(weighting.scheme), exponent));
      const Trained trained = train(weighting, exponent, weighting.scheme == Scheme::linear);
      const Wmf model(trained.fit.V, trained.training);
      Matrix<float> scores(20, trained.X.cols);
      model.score(trained.X.view().block(10, scores.rows()), scores.view());
      const Eigen::MatrixXd expected = scores_of(trained).middleRows(10, 20);
      EXPECT_LE((to_dense(scores.view()) - expected).cwiseAbs().maxCoeff(),
                2e-5 * expected.cwiseAbs().maxCoeff());
    }
  }
}

TEST(Wmf, FoldedInFactorsGiveTheScores) {
  const Trained trained = train({.scheme = Scheme::linear, .alpha = 2}, 1, true);
  const Wmf model(trained.fit.V, trained.training);
  const Eigen::MatrixXd users = to_dense(model.fold_in(trained.X.view()).view());
  const Eigen::MatrixXd expected = scores_of(trained);
  EXPECT_LE((users * to_dense(trained.fit.V.view()).transpose() - expected).cwiseAbs().maxCoeff(),
            2e-5 * expected.cwiseAbs().maxCoeff());
}

TEST(Wmf, AUserWithoutHistoryScoresNothing) {
  const Trained trained = train({.alpha = 10}, 0, false);
  const Wmf model(trained.fit.V, trained.training);
  Matrix<float> scores(1, trained.X.cols, 7.0F);
  ASSERT_EQ(trained.X.view().row_size(3), 0);
  model.score(trained.X.view().block(3, scores.rows()), scores.view());
  for (const float score : scores.row(0)) EXPECT_EQ(score, 0);
}

TEST(Wmf, ContributionsAddUpToTheScore) {
  for (const WeightingOptions& weighting : schemes) {
    SCOPED_TRACE(scheme_name(weighting.scheme));
    const Trained trained = train(weighting, 0.5, weighting.scheme == Scheme::linear);
    const Wmf model(trained.fit.V, trained.training);
    Matrix<float> scores(1, trained.X.cols);
    for (const std::int64_t u : {0, 4, 9}) {
      model.score(trained.X.view().block(u, scores.rows()), scores.view());
      const double largest = to_dense(scores.view()).cwiseAbs().maxCoeff();
      for (std::int32_t i = 0; i < trained.X.cols; ++i) {
        const std::vector<double> parts =
            model.contributions(trained.X.view().row(u), trained.X.view().row_values(u), {}, i);
        ASSERT_EQ(parts.size(), trained.X.view().row(u).size());
        EXPECT_NEAR(std::accumulate(parts.begin(), parts.end(), 0.0), scores(0, i), 2e-5 * largest);
      }
    }
  }
}

TEST(Wmf, SimilarityIsTheCosineOfItemFactors) {
  const Trained trained = train({.alpha = 10}, 0, false);
  const Wmf model(trained.fit.V, trained.training);
  std::vector<float> scores(trained.X.cols);
  model.similarity(6, scores);
  EXPECT_NEAR(scores[6], 1, 1e-6);
  const Eigen::MatrixXd V = to_dense(trained.fit.V.view());
  EXPECT_NEAR(scores[9], V.row(6).dot(V.row(9)) / V.row(6).norm() / V.row(9).norm(), 1e-5);
  EXPECT_EQ(scores[1], 0) << "an item that nobody has";
}

TEST(Wmf, ItemsFoldInFromTheirUsers) {
  const Trained trained = train({.alpha = 10}, 0.5, false);
  const Csr items = transpose(trained.X.view());
  const Weights W = make_weights(items.view(), {.alpha = 10});
  const RowFoldIn rows(trained.fit.U.view(), {});
  const Eigen::MatrixXd folded =
      to_dense(rows.fold_in_original(items.view(), W, trained.training.lambda).view());
  // The last half-round of training solved the items, to its tolerance.
  const Eigen::MatrixXd V = to_dense(trained.fit.V.view());
  EXPECT_LE((folded - V).norm(), 3e-3 * V.norm());
}

}  // namespace
}  // namespace poise
