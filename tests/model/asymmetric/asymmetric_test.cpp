#include "poise/model/asymmetric/asymmetric.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "poise/recommend/similar.hpp"

#include "support/dense_oracle.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::random_matrix;

TEST(Asymmetric, ScoresAndContributions) {
  for (const auto& [items, rank] : {std::pair{1, 1}, {70, 3}, {33, 8}, {100, 41}}) {
    const Asymmetric model(random_matrix<float>(items, rank, 1), random_matrix<float>(items, rank, 2));
    const Csr histories = random_csr(11, items, 0.3, true, 3, true);
    Matrix<float> scores(9, items);
    model.score(histories.view().block(2, scores.rows()), scores.view());
    for (std::int64_t k = 0; k < 9; ++k) {
      const auto history = histories.view().row(k + 2);
      for (std::int32_t i = 0; i < items; ++i) {
        double wanted = 0;
        double size = 0;
        for (const std::int32_t j : history) {
          for (int c = 0; c < rank; ++c) {
            const double term = static_cast<double>(model.U()(j, c)) * model.V()(i, c);
            wanted += term;
            size += std::abs(term);
          }
        }
        ASSERT_NEAR(scores(k, i), wanted, 2e-7 * size);
        const auto parts = model.contributions(history, {}, {}, i);
        ASSERT_EQ(parts.size(), history.size());
        ASSERT_NEAR(std::accumulate(parts.begin(), parts.end(), 0.0), wanted, 1e-12 * (1 + std::abs(wanted)));
      }
    }
  }
}

TEST(Asymmetric, AScoreDoesNotDependOnItsBlock) {
  const Asymmetric model(random_matrix<float>(50, 13, 1), random_matrix<float>(50, 13, 2));
  const Csr histories = random_csr(9, 50, 0.2, false, 3);
  Matrix<float> together(9, 50);
  model.score(histories.view(), together.view());
  for (std::int64_t k = 0; k < 9; ++k) {
    Matrix<float> alone(1, 50);
    model.score(histories.view().block(k, alone.rows()), alone.view());
    EXPECT_TRUE(std::ranges::equal(alone.row(0), together.row(k))) << k;
  }
}

TEST(Asymmetric, RankZeroScoresNothing) {
  const Asymmetric model(Matrix<float>(5, 0), Matrix<float>(5, 0));
  Matrix<float> scores(1, 5, 7);
  model.score(random_csr(1, 5, 1, false, 1).view(), scores.view());
  for (const float score : scores.row(0)) EXPECT_EQ(score, 0);
}

TEST(Asymmetric, SimilarIsWhatAHistoryOfOneGives) {
  const Asymmetric model(random_matrix<float>(20, 4, 1), random_matrix<float>(20, 4, 2));
  const RankedLists list = similar(model, 3, 1);
  double best = -1e9;
  for (std::int32_t i = 0; i < 20; ++i) {
    if (i != 3) best = std::max(best, model.contributions(std::vector<std::int32_t>{3}, {}, {}, i).front());
  }
  EXPECT_FLOAT_EQ(list.scores(0)[0], static_cast<float>(best));
}

}  // namespace
}  // namespace poise
