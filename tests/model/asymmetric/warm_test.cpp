// Rounds that begin at the factors of an earlier model.
#include <gtest/gtest.h>

#include "poise/model/asymmetric/fit.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/asymmetric_oracle.hpp"
#include "support/low_rank_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using testing::AsymmetricOracle;
using testing::over_items;
using testing::to_eigen;

class WarmRounds : public ::testing::TestWithParam<Regularizer> {
 protected:
  LowRankFit fit(const Csr& X, const Weights& W, const Factors* earlier = nullptr, int threads = 2) {
    const Spectrum top = top_spectrum(X.view(), {}, options_.rank, *backend_, {.threads = 2});
    return fit_asymmetric(X.view(), W, options_, top, *backend_, {.threads = threads}, nullptr, nullptr,
                          earlier);
  }

  std::unique_ptr<Backend> backend_ = testing::tested_backend(2);
  AsymmetricOptions options_;
};

TEST_P(WarmRounds, EndWhereNeitherBlockGainsMoreThanIsSaid) {
  const Csr X = testing::grouped_matrix(200, 24, 2);
  const Csr before = testing::leading_part(X, 197, 23);
  options_.regularizer = GetParam();
  options_.rank = 4;
  options_.lambda = 2;
  for (const double alpha : {0.2, 1.0, 5.0, 20.0}) {
    SCOPED_TRACE(alpha);
    const LowRankFit earlier = fit(before, make_weights(before.view(), {.alpha = alpha}));
    ASSERT_EQ(earlier.live_directions, 4);
    const Factors start{over_items(earlier.U, X.cols), over_items(earlier.V, X.cols)};
    const Weights W = make_weights(X.view(), {.alpha = alpha});
    const LowRankFit warm = fit(X, W, &start);
    EXPECT_TRUE(warm.converged);
    EXPECT_GT(warm.rounds, 0);
    // Not convex: they may end at different factors.
    EXPECT_LE(warm.objective, fit(X, W).objective * (1 + 1e-3));
    const AsymmetricOracle oracle(X.view(), W, GetParam(), options_.lambda);
    const Eigen::MatrixXd U = to_eigen(warm.U);
    const Eigen::MatrixXd V = to_eigen(warm.V);
    EXPECT_NEAR(warm.objective, oracle.objective(U, V), 1e-6 * warm.objective);
    const double gain = std::max(oracle.U_gain(U, V), oracle.V_gain(U, V));
    EXPECT_GE(warm.certificate.absolute, gain * (1 - 1e-4) - 1e-8 * W.observed);
    EXPECT_LE(warm.certificate.relative, 1e-5);
    const LowRankFit alone = fit(X, W, &start, 1);
    EXPECT_EQ(alone.objective, warm.objective);
    EXPECT_EQ(to_eigen(alone.V), V);
  }
}

std::string name_of(const ::testing::TestParamInfo<Regularizer>& regularizer) {
  switch (regularizer.param) {
    case Regularizer::weight_decay:
      return "WeightDecay";
    case Regularizer::dropout:
      return "Dropout";
    case Regularizer::data_weight_decay:
      break;
  }
  return "DataWeightDecay";
}

INSTANTIATE_TEST_SUITE_P(Asymmetric, WarmRounds,
                         ::testing::Values(Regularizer::weight_decay, Regularizer::dropout,
                                           Regularizer::data_weight_decay),
                         name_of);

}  // namespace
}  // namespace poise
