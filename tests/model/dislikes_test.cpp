#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "poise/base/error.hpp"
#include "poise/model/asymmetric/asymmetric.hpp"
#include "poise/model/full_rank/cost.hpp"
#include "poise/model/full_rank/family.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/wmf/wmf.hpp"
#include "poise/train/model_file.hpp"
#include "poise/train/trainer.hpp"

#include "support/asymmetric_oracle.hpp"
#include "support/dense_oracle.hpp"
#include "support/low_rank_data.hpp"
#include "support/random_data.hpp"
#include "support/random_dislikes.hpp"
#include "support/tested_backend.hpp"
#include "weighting/dense_weights.hpp"

namespace poise {
namespace {

/// A training matrix with values, its dislikes (of users without anything else and of an item that nobody
/// has, too), and the weights written out densely from the definition alone.
struct Disliked {
  Csr X = with_values(testing::grouped_matrix(60, 20, 1));
  Csr disliked = testing::random_dislikes(X.view(), 0.12, 5);

  static Csr with_values(Csr X) {
    for (std::int64_t e = 0; e < X.entries(); ++e) X.values.push_back(1 + static_cast<float>(e % 4));
    return X;
  }
  [[nodiscard]] UserRows rows() const { return {X.view(), disliked.view()}; }
  [[nodiscard]] Eigen::MatrixXd W(const WeightingOptions& options) const {
    testing::DenseWeights dense = testing::dense_weights(X.view(), options);
    for (std::int64_t u = 0; u < X.rows; ++u) {
      for (const std::int32_t i : disliked.view().row(u))
        dense.W(u, i) = options.alpha_negative * dense.background(u, i);
    }
    return dense.W;
  }
};

const std::vector<WeightingOptions> weightings = {{.scheme = Scheme::none},
                                                  {.scheme = Scheme::constant, .alpha = 2},
                                                  {.scheme = Scheme::constant, .alpha = 0.3},
                                                  {.scheme = Scheme::user_oriented, .alpha = 3},
                                                  {.scheme = Scheme::item_oriented, .alpha = 3},
                                                  {.scheme = Scheme::linear, .alpha = 1.5}};
constexpr double alphas_negative[] = {0.1, 1, 3, 20};

class DislikesTest : public ::testing::Test {
 protected:
  [[nodiscard]] Trained train(const ModelParameters& parameters, int threads = 2) {
    const auto backend = testing::tested_backend(threads);
    Trainer trainer(data_.rows(), Keep::nothing, 1U << 30U, *backend, {.threads = threads});
    return trainer.train(parameters);
  }

  /// Calls check(weighting, W) for every weighting and weight of dislikes.
  template <class Check>
  void for_each_weighting(const Check& check) {
    for (WeightingOptions weighting : weightings) {
      for (const double alpha_negative : alphas_negative) {
        SCOPED_TRACE(
            fmt::format("{} {} dislikes {}", scheme_name(weighting.scheme), weighting.alpha, alpha_negative));
        weighting.alpha_negative = alpha_negative;
        check(weighting, data_.W(weighting));
      }
    }
  }

  [[nodiscard]] testing::DenseOracle full_rank_oracle(const ModelParameters& parameters,
                                                      const Eigen::MatrixXd& W) const {
    Csr binary = data_.X;
    binary.values.clear();
    const std::vector<double> l = full_rank_lambda(binary.view(), full_rank_options(parameters, 1U << 30U));
    testing::DenseOracle oracle(binary.view(), Weights(),
                                Eigen::Map<const Eigen::VectorXd>(l.data(), std::ssize(l)));
    oracle.W = W;
    return oracle;
  }

  static double hi_over_lo(const WeightingOptions& weighting, const Eigen::MatrixXd& W) {
    return std::max({1.0, W.maxCoeff()}) / std::min(1.0, W.minCoeff()) * std::max(weighting.clip, 1.0);
  }

  Disliked data_;
};

/// Each column against the ridge regression with every weight written out; the certificate from both sides.
TEST_F(DislikesTest, FullRankIsTheWeightedRidge) {
  for_each_weighting([&](const WeightingOptions& weighting, const Eigen::MatrixXd& W) {
    for (const bool zero_diagonal : {false, true}) {
      SCOPED_TRACE(zero_diagonal);
      const ModelParameters parameters{.zero_diagonal = zero_diagonal, .lambda = 4, .weighting = weighting};
      const Trained trained = train(parameters);
      const auto B = dynamic_cast<const FullRank&>(*trained.model).dense();
      const testing::DenseOracle oracle = full_rank_oracle(parameters, W);
      double objective = 0;
      double excess = 0;
      double observed = 0;
      for (Eigen::Index i = 0; i < oracle.X.cols(); ++i) {
        Eigen::VectorXd beta(oracle.X.cols());
        for (Eigen::Index j = 0; j < beta.size(); ++j) beta(j) = B(j, i);
        const double column = oracle.excess(i, beta, zero_diagonal);
        const double unexplained = oracle.objective(i, Eigen::VectorXd::Zero(beta.size()));
        EXPECT_LE(column, 2e-6 * unexplained + 1e-12) << "column " << i;
        objective += oracle.objective(i, beta);
        excess += column;
        observed += unexplained;
      }
      EXPECT_TRUE(trained.converged);
      EXPECT_NEAR(trained.objective, objective, 1e-6 * objective);
      EXPECT_NEAR(trained.observed_weight, observed, 1e-6 * observed);
      EXPECT_GE(1.05 * trained.certificate.absolute, excess - 1e-10 * observed);
      if (excess > 1e-9 * observed) {
        EXPECT_LE(trained.certificate.absolute, 6 * hi_over_lo(weighting, W) * excess);
      }
    }
  });
}

TEST_F(DislikesTest, NeighboursAreTheRidgeOnTheirItems) {
  if (testing::tested_backend(1)->traits().own_memory) GTEST_SKIP() << "trained on processors alone";
  for_each_weighting([&](const WeightingOptions& weighting, const Eigen::MatrixXd& W) {
    for (const bool zero_diagonal : {false, true}) {
      for (const std::int64_t neighbours : {6, 1000}) {
        const ModelParameters parameters{
            .zero_diagonal = zero_diagonal, .neighbours = neighbours, .lambda = 4, .weighting = weighting};
        const Trained trained = train(parameters);
        const auto& model = dynamic_cast<const FullRank&>(*trained.model);
        const testing::DenseOracle oracle = full_rank_oracle(parameters, W);
        double objective = 0;
        for (std::int32_t i = 0; i < oracle.X.cols(); ++i) {
          std::vector<std::int32_t> support;
          Eigen::VectorXd beta(oracle.X.cols());
          for (std::int32_t j = 0; j < beta.size(); ++j) {
            beta(j) = model.contribution(j, i);
            if (beta(j) != 0) support.push_back(j);
          }
          objective += oracle.objective(i, beta);
          const Eigen::MatrixXd H = oracle.H(i);
          const Eigen::VectorXd best = H(support, support).ldlt().solve(oracle.c(i)(support).eval());
          for (std::size_t p = 0; p < support.size(); ++p)
            EXPECT_NEAR(beta(support[p]), best(static_cast<Eigen::Index>(p)), 2e-5);
          if (neighbours == 1000) {
            EXPECT_LE((beta - oracle.solve(i, zero_diagonal)).cwiseAbs().maxCoeff(), 2e-5);
          }
        }
        EXPECT_NEAR(trained.objective, objective, 1e-5 * objective);
      }
    }
  });
}

/// Objective of the saved factors, and what re-solving either of them would still gain.
TEST_F(DislikesTest, AsymmetricModelsMinimizeTheWeightedObjective) {
  for_each_weighting([&](const WeightingOptions& weighting, const Eigen::MatrixXd& W) {
    for (const Regularizer regularizer :
         {Regularizer::weight_decay, Regularizer::dropout, Regularizer::data_weight_decay}) {
      SCOPED_TRACE(regularizer_name(regularizer));
      const double lambda = regularizer == Regularizer::data_weight_decay ? 0.8 : 2;
      const Trained trained = train({.family = Family::awmf,
                                     .regularizer = regularizer,
                                     .rank = 4,
                                     .lambda = lambda,
                                     .weighting = weighting,
                                     .rounds = 30});
      const auto& model = dynamic_cast<const Asymmetric&>(*trained.model);
      Csr binary = data_.X;
      binary.values.clear();
      testing::AsymmetricOracle oracle(binary.view(), Weights(), regularizer, lambda);
      oracle.W = W;
      const Eigen::MatrixXd U = testing::to_dense(model.U());
      const Eigen::MatrixXd V = testing::to_dense(model.V());
      const double observed = W.cwiseProduct(oracle.X).sum();
      const double objective = oracle.objective(U, V);
      EXPECT_NEAR(trained.objective, objective, 1e-6 * observed);
      EXPECT_NEAR(trained.observed_weight, observed, 1e-6 * observed);
      const double gain = std::max(oracle.U_gain(U, V), oracle.V_gain(U, V));
      EXPECT_GE(1.05 * trained.certificate.absolute, gain - 1e-7 * observed);
      EXPECT_LE(trained.certificate.absolute, 6 * hi_over_lo(weighting, W) * gain + 1e-5 * observed);
    }
  });
}

/// The same for matrix factorization, whose users are folded in with their dislikes.
TEST_F(DislikesTest, MatrixFactorizationMinimizesTheWeightedObjective) {
  for_each_weighting([&](const WeightingOptions& weighting, const Eigen::MatrixXd& W) {
    const double lambda = 1.5;
    const Trained trained =
        train({.family = Family::wmf, .rank = 4, .lambda = lambda, .weighting = weighting, .rounds = 30});
    const auto& model = dynamic_cast<const Wmf&>(*trained.model);
    const Eigen::MatrixXd X = (testing::to_dense(data_.X.view()).array() != 0).cast<double>();
    const Eigen::MatrixXd U = testing::to_dense(model.fold_in(data_.rows()).view());
    const Eigen::MatrixXd V = testing::to_dense(model.V());
    const auto objective_of = [&](const Eigen::MatrixXd& left, const Eigen::MatrixXd& right) {
      return W.cwiseProduct((X - left * right.transpose()).cwiseAbs2()).sum() +
             lambda * (left.squaredNorm() + right.squaredNorm());
    };
    const double observed = W.cwiseProduct(X).sum();
    const double objective = objective_of(U, V);
    EXPECT_NEAR(trained.objective, objective, 1e-5 * observed);
    Eigen::MatrixXd best_V(V.rows(), V.cols());
    for (Eigen::Index i = 0; i < V.rows(); ++i) {
      Eigen::MatrixXd H = U.transpose() * W.col(i).asDiagonal() * U;
      H.diagonal().array() += lambda;
      best_V.row(i) = H.ldlt().solve(U.transpose() * W.col(i).cwiseProduct(X.col(i))).transpose();
    }
    EXPECT_LE(objective - objective_of(U, best_V), 1e-4 * observed);
    // A user's own row: weighted ridge with target 0 where they dislike.
    Matrix<float> scores(X.rows(), X.cols());
    model.score(data_.rows(), scores.view());
    const Eigen::MatrixXd scored = testing::to_dense(scores.view());
    for (Eigen::Index u = 0; u < X.rows(); ++u) {
      const Eigen::VectorXd w = W.row(u).transpose();
      Eigen::MatrixXd H = V.transpose() * w.asDiagonal() * V;
      H.diagonal().array() += lambda;
      const Eigen::VectorXd z = H.ldlt().solve(V.transpose() * w.cwiseProduct(X.row(u).transpose()));
      EXPECT_LE((scored.row(u).transpose() - V * z).cwiseAbs().maxCoeff(), 1e-4) << "user " << u;
    }
  });
}

std::vector<ModelParameters> one_of_each_family() {
  return {{.lambda = 4, .weighting = {.alpha = 2}},
          {.zero_diagonal = true, .lambda = 4, .weighting = {.scheme = Scheme::item_oriented, .alpha = 2}},
          {.zero_diagonal = true, .neighbours = 7, .lambda = 4},
          {.family = Family::awmf, .regularizer = Regularizer::dropout, .rank = 4, .lambda = 2},
          {.family = Family::wmf, .rank = 4, .lambda = 2, .weighting = {.alpha = 5}}};
}

TEST_F(DislikesTest, OfWeightOneLeaveTheBytesOfAModel) {
  const auto backend = testing::tested_backend(2);
  for (const ModelParameters& parameters : one_of_each_family()) {
    if (backend->traits().own_memory && parameters.neighbours > 0) continue;
    Trainer plain(data_.X.view(), Keep::nothing, 1U << 30U, *backend, {.threads = 2});
    const Trained expected = plain.train(parameters);
    const Trained trained = train(parameters);
    EXPECT_EQ(model_bytes({}, *trained.model), model_bytes({}, *expected.model));
    EXPECT_EQ(trained.objective, expected.objective);
    ModelParameters weighed = parameters;
    weighed.weighting.alpha_negative = 6;
    EXPECT_NE(model_bytes({}, *train(weighed).model), model_bytes({}, *expected.model));
  }
}

TEST_F(DislikesTest, ThreadsDoNotChangeTheBytes) {
  for (ModelParameters parameters : one_of_each_family()) {
    if (testing::tested_backend(1)->traits().own_memory && parameters.neighbours > 0) continue;
    parameters.weighting.alpha_negative = 3;
    const Trained one = train(parameters, 1);
    const Trained three = train(parameters, 3);
    EXPECT_EQ(model_bytes({}, *one.model), model_bytes({}, *three.model));
    EXPECT_EQ(one.certificate.absolute, three.certificate.absolute);
  }
}

/// The weight of dislikes is part of a model of matrix factorization, which weighs them in every fold-in.
TEST_F(DislikesTest, AModelFileKeepsTheirWeight) {
  const Trained trained =
      train({.family = Family::wmf, .rank = 4, .lambda = 2, .weighting = {.alpha = 5, .alpha_negative = 8}});
  ModelInfo info;
  info.model = "wmf";
  info.report = "{}";
  for (std::int64_t i = 0; i < data_.X.cols; ++i) info.items.push_back(fmt::format("i{}", i));
  const std::vector<std::byte> bytes = model_bytes(info, *trained.model);
  const LoadedModel loaded = decode_model(Container::parse(bytes, "the model"), 1);
  Matrix<float> expected(data_.X.rows, data_.X.cols);
  Matrix<float> scores(data_.X.rows, data_.X.cols);
  trained.model->score(data_.rows(), expected.view());
  loaded.scorer->score(data_.rows(), scores.view());
  EXPECT_EQ(testing::to_dense(scores.view()), testing::to_dense(expected.view()));
  loaded.scorer->score(data_.X.view(), scores.view());
  EXPECT_NE(testing::to_dense(scores.view()), testing::to_dense(expected.view()));
}

/// With a share s, a disliked item takes s times from every score what it would add as an item.
TEST_F(DislikesTest, AShareOfThemIsTakenFromSumsOverTheHistory) {
  for (const ModelParameters& parameters : one_of_each_family()) {
    const auto backend = testing::tested_backend(2);
    if (backend->traits().own_memory && parameters.neighbours > 0) continue;
    const Trained trained = train(parameters);
    const std::int64_t n = data_.X.cols;
    Matrix<float> scores(data_.X.rows, n);
    UserRows rows = data_.rows();
    rows.dislike_share = 0.5;
    if (parameters.family == Family::wmf) {
      EXPECT_THROW(trained.model->score(rows, scores.view()), Error);
      continue;
    }
    trained.model->score(rows, scores.view());
    for (const std::int64_t u : {0, 3, 17}) {
      for (std::int32_t i = 0; i < n; ++i) {
        double expected = 0;
        for (const double part : trained.model->contributions(data_.X.view().row(u), {}, {}, i))
          expected += part;
        for (const double part : trained.model->contributions(data_.disliked.view().row(u), {}, {}, i))
          expected -= 0.5 * part;
        EXPECT_NEAR(scores(u, i), expected, 1e-5);
      }
    }
  }
}

/// What explains a score of matrix factorization is solved with the dislikes, too.
TEST_F(DislikesTest, ContributionsOfAHistoryWithThemAddUp) {
  const Trained trained =
      train({.family = Family::wmf, .rank = 4, .lambda = 2, .weighting = {.alpha = 5, .alpha_negative = 8}});
  Matrix<float> scores(data_.X.rows, data_.X.cols);
  trained.model->score(data_.rows(), scores.view());
  for (const std::int64_t u : {0, 9, 30}) {
    for (std::int32_t i = 0; i < data_.X.cols; ++i) {
      double sum = 0;
      for (const double part : trained.model->contributions(
               data_.X.view().row(u), data_.X.view().row_values(u), data_.disliked.view().row(u), i))
        sum += part;
      EXPECT_NEAR(sum, scores(u, i), 2e-5);
    }
  }
}

}  // namespace
}  // namespace poise
