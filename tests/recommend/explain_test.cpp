#include "poise/recommend/explain.hpp"

#include <gtest/gtest.h>

#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/popularity.hpp"
#include "poise/recommend/recommend.hpp"

#include "support/expect_error.hpp"
#include "support/random_data.hpp"
#include "support/table_scorer.hpp"

namespace poise {
namespace {

using testing::expect_error;
using testing::random_csr;
using testing::random_matrix;
using Items = std::vector<std::int32_t>;

TEST(Explain, LargestFirstThenLowerIndex) {
  Matrix<float> B(4, 4);
  B(0, 3) = 1;
  B(1, 3) = -2;
  B(2, 3) = 1;
  const FullRank model(std::move(B));
  const std::vector<Contribution> wanted = {{0, 1.0}, {2, 1.0}, {1, -2.0}};
  EXPECT_EQ(explain(model, Items{2, 1, 0}, {}, 3), wanted);
  EXPECT_TRUE(explain(model, Items{}, {}, 3).empty());
}

TEST(Explain, AddsUpToTheRecommendedScoreDenseAndSparse) {
  const Matrix<float> B = random_matrix<float>(700, 700, 1);
  const Csr histories = random_csr(5, 700, 0.8, false, 2);
  for (const FullRank& model : {FullRank(B), FullRank(keep_top(B.view(), 50, 1))}) {
    const RankedLists lists = recommend(model, histories.view(), {.k = 700}, {.threads = 2});
    for (std::int64_t u = 0; u < lists.rows(); ++u) {
      for (std::int64_t r = 0; r < lists.size(u); ++r) {
        const auto because = explain(model, histories.view().row(u), {}, lists.items(u)[r]);
        ASSERT_EQ(static_cast<std::int64_t>(because.size()), histories.view().row_size(u));
        double sum = 0;
        double size = 0;
        for (const Contribution& reason : because) {
          sum += reason.contribution;
          size += std::abs(reason.contribution);
        }
        ASSERT_NEAR(sum, lists.scores(u)[r], 2e-7 * size);
      }
    }
  }
}

TEST(Explain, RefusesModelsWithoutReasonsAndUnknownItems) {
  const Popularity popularity({1, 2, 3});
  expect_error(ErrorKind::usage, "the popularity model does not use the history; explain needs",
               [&] { explain(popularity, Items{0}, {}, 1); });
  const testing::TableScorer table(Matrix<float>(1, 3));
  expect_error(ErrorKind::usage, "are not a sum over the history", [&] { explain(table, Items{0}, {}, 1); });
  const FullRank model(Matrix<float>(3, 3));
  expect_error(ErrorKind::input, "item number 3 ", [&] { explain(model, Items{0}, {}, 3); });
  expect_error(ErrorKind::input, "item number -1 ", [&] { explain(model, Items{0, -1}, {}, 2); });
}

}  // namespace
}  // namespace poise
