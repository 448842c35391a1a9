#include "poise/recommend/together.hpp"

#include <gtest/gtest.h>

#include "poise/evaluate/evaluate.hpp"
#include "poise/model/full_rank/full_rank.hpp"

#include "comm/mailboxes.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

constexpr std::int64_t together_users = 150;
constexpr std::int64_t together_items = 30;

TEST(Together, ListsAreThoseOfOneProcess) {
  const FullRank model(testing::random_matrix<float>(together_items, together_items, 1, 3));
  const Csr histories = testing::random_csr(together_users, together_items, 0.2, true, 2, true);
  const Csr seen = testing::random_csr(together_users, together_items, 0.5, false, 3);
  for (const double diversify : {0.0, 0.4}) {
    const RecommendOptions options{.k = 12, .seen = seen.view(), .exclude = {4, 2}, .diversify = diversify};
    const RankedLists alone = recommend(model, histories.view(), options, {.threads = 1});
    for (const int size : {1, 2, 5, 200}) {
      testing::as_processes(size, [&](Processes& processes) {
        const RankedLists lists =
            recommend_together(model, histories.view(), options, {.threads = 1}, nullptr, processes);
        if (!processes.first()) return;
        ASSERT_EQ(lists.rows(), together_users);
        for (std::int64_t row = 0; row < together_users; ++row) {
          EXPECT_TRUE(std::ranges::equal(lists.items(row), alone.items(row))) << row;
          EXPECT_TRUE(std::ranges::equal(lists.scores(row), alone.scores(row))) << row;
        }
      });
    }
  }
}

TEST(Together, MetricsAreThoseOfOneProcess) {
  const FullRank model(testing::random_matrix<float>(together_items, together_items, 1));
  const Csr histories = testing::random_csr(together_users, together_items, 0.2, false, 2, true);
  const Csr targets = testing::random_csr(together_users, together_items, 0.1, false, 3, true);
  const Csr train = testing::random_csr(90, together_items, 0.3, false, 4);
  const std::vector<std::int64_t> counts = column_counts(train.view());
  const TrainingView training(counts, train.view());
  const EvaluateOptions options{
      .metrics = parse_metrics("recall@5,coverage@2,ndcg@10,coverage@1,auc,gini@5,entropy@2,popularity@4,"
                               "tail-share@4,novelty@4,diversity@4,calibration@4"),
      .item_hits_at = 3};
  const EvaluationResult alone =
      evaluate(model, histories.view(), targets.view(), training, options, {.threads = 1});
  for (const int size : {1, 2, 5, 200}) {
    testing::as_processes(size, [&](Processes& processes) {
      Evaluation evaluation(model, histories.view(), targets.view(), training, options, {.threads = 1});
      evaluation.measure_together(processes);
      if (!processes.first()) return;
      const EvaluationResult result = evaluation.finish();
      EXPECT_EQ(result.users, alone.users);
      EXPECT_EQ(result.item_hits, alone.item_hits);
      ASSERT_EQ(result.metrics.size(), alone.metrics.size());
      for (std::size_t k = 0; k < result.metrics.size(); ++k) {
        EXPECT_EQ(result.metrics[k].mean, alone.metrics[k].mean);
        EXPECT_EQ(result.metrics[k].standard_error, alone.metrics[k].standard_error);
      }
    });
  }
}

}  // namespace
}  // namespace poise
