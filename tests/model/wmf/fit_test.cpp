#include "poise/model/wmf/fit.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "poise/model/closed_form.hpp"
#include "poise/model/low_rank/gauge.hpp"

#include "support/low_rank_data.hpp"
#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using testing::grouped_matrix;
using testing::to_dense;

/// The problem in dense float64.
struct Oracle {
  Eigen::MatrixXd X;
  Eigen::MatrixXd W;
  Eigen::VectorXd of_user;
  Eigen::VectorXd of_item;

  Oracle(CsrView x, const Weights& weights, const WmfOptions& options) : of_user(x.rows), of_item(x.cols) {
    const testing::DenseOracle dense(x, weights, Eigen::VectorXd::Ones(x.cols));
    X = dense.X;
    W = dense.W;
    const double nu = options.lambda_exponent;
    const auto m = static_cast<double>(x.rows);
    const auto n = static_cast<double>(x.cols);
    for (std::int64_t u = 0; u < x.rows; ++u)
      of_user(u) = options.lambda * std::pow(X.row(u).sum() + n / options.alpha, nu);
    for (std::int64_t i = 0; i < x.cols; ++i)
      of_item(i) = options.lambda * std::pow(X.col(i).sum() + m / options.alpha, nu);
  }

  [[nodiscard]] double objective(const Eigen::MatrixXd& U, const Eigen::MatrixXd& V) const {
    return W.cwiseProduct((X - U * V.transpose()).cwiseAbs2()).sum() +
           of_user.dot(U.rowwise().squaredNorm()) + of_item.dot(V.rowwise().squaredNorm());
  }
  [[nodiscard]] Eigen::MatrixXd best_U(const Eigen::MatrixXd& V) const { return best(X, W, of_user, V); }
  [[nodiscard]] Eigen::MatrixXd best_V(const Eigen::MatrixXd& U) const {
    return best(X.transpose(), W.transpose(), of_item, U);
  }
  /// Half the gradient, in U and in V.
  [[nodiscard]] double gradient_norm(const Eigen::MatrixXd& U, const Eigen::MatrixXd& V) const {
    const Eigen::MatrixXd error = W.cwiseProduct(U * V.transpose() - X);
    const Eigen::MatrixXd in_U = error * V + of_user.asDiagonal() * U;
    const Eigen::MatrixXd in_V = error.transpose() * U + of_item.asDiagonal() * V;
    return std::sqrt(in_U.squaredNorm() + in_V.squaredNorm());
  }

  static Eigen::MatrixXd best(const Eigen::MatrixXd& X, const Eigen::MatrixXd& W, const Eigen::VectorXd& l,
                              const Eigen::MatrixXd& Z) {
    Eigen::MatrixXd result(X.rows(), Z.cols());
    for (Eigen::Index r = 0; r < X.rows(); ++r) {
      const Eigen::VectorXd w = W.row(r).transpose();
      Eigen::MatrixXd H = Z.transpose() * w.asDiagonal() * Z;
      H.diagonal().array() += l(r) + 1e-13 * H.trace();
      result.row(r) = H.ldlt().solve(Z.transpose() * w.cwiseProduct(X.row(r).transpose())).transpose();
    }
    return result;
  }
};

class WmfFitTest : public ::testing::Test {
 protected:
  LowRankFit fit(const Csr& X, const Weights& W, const WmfOptions& options, int threads = 2) {
    const Spectrum spectrum =
        top_spectrum(X.view(), {}, std::min(options.rank, X.cols), *backend_, {.threads = 2});
    return fit_wmf(X.view(), W, options, spectrum, *backend_, {.threads = threads});
  }

  /// Objective, certificate and trace against the oracle; `block_gain`: what re-solving one side would gain.
  void expect_honest(const Csr& X, const Weights& W, const WmfOptions& options, const LowRankFit& result) {
    const Oracle oracle(X.view(), W, options);
    const Eigen::MatrixXd U = to_dense(result.U.view());
    const Eigen::MatrixXd V = to_dense(result.V.view());
    ASSERT_TRUE(U.allFinite() && V.allFinite());
    EXPECT_EQ(U.cols(), options.rank);
    EXPECT_EQ(V.cols(), options.rank);
    const double objective = oracle.objective(U, V);
    // C is rounded to float32, which near -1 is felt in 1 + C.
    EXPECT_NEAR(result.objective, objective, 1e-7 * W.observed * std::max(1.0, 0.1 / W.lowest));
    EXPECT_LE(result.objective, W.observed * (1 + 1e-9));
    const double gain = std::max(objective - oracle.objective(oracle.best_U(V), V),
                                 objective - oracle.objective(U, oracle.best_V(U)));
    EXPECT_GE(result.certificate.absolute, gain * (1 - 1e-4) - 1e-8 * W.observed);
    EXPECT_LE(result.certificate.absolute,
              1.01 * gain * W.highest / W.lowest + 1e-7 * (1 + W.observed - objective));
    for (std::size_t k = 1; k < result.trace.size(); ++k)
      EXPECT_LE(result.trace[k].objective,
                result.trace[k - 1].objective + 1e-6 * W.observed * std::max(1.0, 0.1 / W.lowest))
          << "round " << k;
  }

  std::unique_ptr<Backend> backend_ = testing::tested_backend(2);
};

WmfOptions options_of(std::int64_t rank, double lambda) {
  WmfOptions options;
  options.rank = rank;
  options.lambda = lambda;
  return options;
}

TEST_F(WmfFitTest, UnweightedIsTheClosedForm) {
  const Csr X = grouped_matrix(60, 24, 1);
  const Weights W = make_weights(X.view(), {.alpha = 1});
  const Spectrum spectrum = top_spectrum(X.view(), {}, 24, *backend_, {});
  for (const double lambda : {0.0, 1e-8, 0.5, 3.0}) {
    WmfOptions options = options_of(5, lambda);
    const LowRankFit closed = fit(X, W, options);
    expect_honest(X, W, options, closed);
    EXPECT_TRUE(closed.converged);
    double wanted = W.observed;
    for (int k = 0; k < 5; ++k) wanted -= std::pow(std::max(0.0, std::sqrt(spectrum.s[k]) - lambda), 2);
    EXPECT_NEAR(closed.objective, wanted, 1e-6 * closed.objective);
    options.start = Start::random;
    options.rounds = 400;
    const LowRankFit random = fit(X, W, options);
    expect_honest(X, W, options, random);
    EXPECT_GT(random.rounds, 0);
    EXPECT_NEAR(random.objective, closed.objective, 1e-4 * closed.objective);
    EXPECT_GE(random.objective, closed.objective * (1 - 1e-6));
  }
}

TEST_F(WmfFitTest, WeightedReachesAStationaryPoint) {
  const Csr X = grouped_matrix(60, 24, 2);
  for (const double alpha : {0.2, 5.0, 20.0}) {
    const Weights W = make_weights(X.view(), {.alpha = alpha});
    for (const double exponent : {0.0, 0.5}) {
      SCOPED_TRACE(fmt::format("alpha {} exponent {}", alpha, exponent));
      WmfOptions options = options_of(4, 2);
      options.lambda_exponent = exponent;
      options.alpha = alpha;
      options.tolerance = 1e-12;
      options.least_decrease = 1e-14;
      options.rounds = 2000;
      const LowRankFit result = fit(X, W, options);
      expect_honest(X, W, options, result);
      EXPECT_TRUE(result.converged);
      EXPECT_LE(result.certificate.relative, 1e-8);
      const Oracle oracle(X.view(), W, options);
      const Eigen::MatrixXd U = to_dense(result.U.view());
      const Eigen::MatrixXd V = to_dense(result.V.view());
      EXPECT_LE(oracle.gradient_norm(U, V),
                1e-4 * oracle.gradient_norm(Eigen::MatrixXd(1.1 * U), Eigen::MatrixXd(1.1 * V)));
    }
  }
}

TEST_F(WmfFitTest, GeneralWeightsOnTheirOwnSupport) {
  const Csr X = grouped_matrix(50, 20, 3);
  Csr support;
  const Weights W = testing::uneven_weights(X, support, 4);
  for (const std::int64_t rank : {1, 3, 18}) {
    const WmfOptions options = options_of(rank, 1.5);
    expect_honest(X, W, options, fit(X, W, options));
  }
}

TEST_F(WmfFitTest, EdgesOfTheOptions) {
  const Csr X = grouped_matrix(40, 16, 5);
  for (const double alpha : {0.01, 10.0, 1000.0}) {
    const Weights W = make_weights(X.view(), {.alpha = alpha});
    for (const double lambda : {0.0, 1e-8, 1.0, 1e7}) {
      for (const std::int64_t rank : {1, 16, 30}) {
        SCOPED_TRACE(fmt::format("alpha {} lambda {} rank {}", alpha, lambda, rank));
        WmfOptions options = options_of(rank, lambda);
        options.rounds = 30;
        const LowRankFit result = fit(X, W, options);
        expect_honest(X, W, options, result);
        if (lambda == 1e7) {
          EXPECT_EQ(result.live_directions, 0);
          EXPECT_EQ(to_dense(result.U.view()).cwiseAbs().maxCoeff(), 0);
          EXPECT_EQ(to_dense(result.V.view()).cwiseAbs().maxCoeff(), 0);
          EXPECT_DOUBLE_EQ(result.objective, W.observed);
        } else if (alpha > 1) {
          EXPECT_LT(result.objective, 0.95 * W.observed);
        }
      }
    }
  }
}

TEST_F(WmfFitTest, RoundsFromEarlierFactors) {
  const Csr X = grouped_matrix(200, 24, 2);
  const Csr before = testing::leading_part(X, 197, 23);
  for (const double alpha : {0.2, 1.0, 5.0, 20.0}) {
    for (const double exponent : {0.0, 0.5}) {
      SCOPED_TRACE(fmt::format("alpha {} exponent {}", alpha, exponent));
      WmfOptions options = options_of(4, 2);
      options.lambda_exponent = exponent;
      options.alpha = alpha;
      const LowRankFit earlier = fit(before, make_weights(before.view(), {.alpha = alpha}), options);
      const Factors start{{}, testing::over_items(earlier.V, X.cols)};
      const Weights W = make_weights(X.view(), {.alpha = alpha});
      const auto warm = [&](int threads) {
        return fit_wmf(X.view(), W, options, {}, *backend_, {.threads = threads}, nullptr, &start);
      };
      const LowRankFit result = warm(2);
      expect_honest(X, W, options, result);
      EXPECT_TRUE(result.converged);
      EXPECT_GT(result.rounds, 0);
      // Not convex: they may end at different factors.
      EXPECT_LE(result.objective, fit(X, W, options).objective * (1 + 1e-3));
      const LowRankFit alone = warm(1);
      EXPECT_EQ(alone.objective, result.objective);
      for (std::int64_t i = 0; i < X.cols; ++i)
        EXPECT_TRUE(std::ranges::equal(alone.V.row(i), result.V.row(i)));
    }
  }
}

TEST_F(WmfFitTest, StopsAtTheRoundsAndSaysSo) {
  const Csr X = grouped_matrix(60, 24, 6);
  const Weights W = make_weights(X.view(), {.alpha = 10});
  WmfOptions options = options_of(6, 1);
  options.rounds = 2;
  const LowRankFit result = fit(X, W, options);
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.rounds, 2);
  EXPECT_EQ(result.trace.size(), 3U);
  expect_honest(X, W, options, result);
}

TEST_F(WmfFitTest, SameBytesWhateverTheThreads) {
  const Csr X = grouped_matrix(700, 60, 7);
  const Weights W = make_weights(X.view(), {.scheme = Scheme::user_oriented, .alpha = 10});
  WmfOptions options = options_of(20, 1);
  options.rounds = 6;
  const LowRankFit one = fit(X, W, options, 1);
  const LowRankFit two = fit(X, W, options, 2);
  EXPECT_EQ(one.objective, two.objective);
  EXPECT_EQ(one.certificate.absolute, two.certificate.absolute);
  for (std::int64_t u = 0; u < X.rows; ++u) {
    EXPECT_TRUE(std::ranges::equal(one.U.row(u), two.U.row(u)));
  }
}

TEST_F(WmfFitTest, RefusesWhatMakesNoSense) {
  const Csr X = grouped_matrix(20, 8, 8);
  const Weights W = make_weights(X.view(), {.alpha = 2});
  for (const WmfOptions& options : {options_of(0, 1), options_of(2, -1), options_of(2, std::nan(""))})
    EXPECT_THROW(fit_wmf(X.view(), W, options, {}, *backend_, {}), Error);
  WmfOptions options = options_of(4, 1);
  options.memory_limit = 1000;
  EXPECT_THROW(fit_wmf(X.view(), W, options, {}, *backend_, {}), Error);
}

TEST(Rebalance, KeepsTheProductAndNeverGrows) {
  const auto backend = testing::tested_backend(2);
  for (const bool deficient : {false, true}) {
    Matrix<float> U = testing::random_matrix<float>(80, 7, 1);
    Matrix<float> V = testing::random_matrix<float>(30, 7, 2);
    for (std::int64_t u = 0; u < U.rows(); ++u) {
      U(u, 3) *= 50;
      if (deficient) U(u, 5) = U(u, 1);
    }
    const Eigen::MatrixXd product = to_dense(U.view()) * to_dense(V.view()).transpose();
    const double before = to_dense(U.view()).squaredNorm() + to_dense(V.view()).squaredNorm();
    const Lent<float> U_there(*backend, U);
    const Lent<float> V_there(*backend, V);
    const Gauge balance = balancing_gauge(roots_of(backend->factor_gram(U_there.view(), {}), 1e-20, *backend),
                                          backend->factor_gram(V_there.view(), {}), 0, *backend);
    EXPECT_EQ(balance.T.cols(), deficient ? 6 : 7);
    const Eigen::MatrixXd after_U = to_dense(changed(U_there.view(), balance.T, *backend).home().view());
    const Eigen::MatrixXd after_V = to_dense(changed(V_there.view(), balance.T_dual, *backend).home().view());
    const double least = 2 * std::accumulate(balance.values.begin(), balance.values.end(), 0.0);
    EXPECT_LE((after_U * after_V.transpose() - product).norm(), 1e-5 * product.norm());
    EXPECT_NEAR(after_U.squaredNorm() + after_V.squaredNorm(), least, 1e-4 * before);
    const double nuclear = product.jacobiSvd().singularValues().sum();
    EXPECT_NEAR(least, 2 * nuclear, 1e-5 * nuclear);
    EXPECT_LE((after_U.transpose() * after_U - after_V.transpose() * after_V).norm(), 1e-4 * nuclear);
  }
}

}  // namespace
}  // namespace poise
