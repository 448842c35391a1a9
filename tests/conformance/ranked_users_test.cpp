#include <cmath>
#include <memory>
#include <vector>

#include "poise/backend/resident.hpp"
#include "poise/evaluate/evaluate.hpp"
#include "poise/model/asymmetric/asymmetric.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/popularity.hpp"
#include "poise/model/wmf/wmf.hpp"
#include "poise/recommend/ranked_blocks.hpp"
#include "poise/recommend/recommend.hpp"

#include "conformance/backends.hpp"
#include "support/expect_error.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::random_matrix;

constexpr std::int64_t users = 300;
constexpr std::int64_t items = 150;

/// Leaves out each user's own history.
auto rows_themselves(const Csr& histories) {
  return [&](std::int64_t first, std::int64_t count, Csr& /*room*/) {
    return histories.view().block(first, count);
  };
}

/// The models, on a backend and without one.
class RankedUsers : public testing::BackendTest {
 protected:
  RankedUsers() {
    Csr training = random_csr(500, items, 0.1, false, 4);
    models.push_back(std::make_unique<FullRank>(random_matrix<float>(items, items, 1)));
    models.push_back(
        std::make_unique<FullRank>(keep_top(random_matrix<float>(items, items, 9).view(), 20, 1)));
    models.push_back(
        std::make_unique<Asymmetric>(random_matrix<float>(items, 7, 2), random_matrix<float>(items, 7, 3)));
    models.push_back(std::make_unique<Wmf>(random_matrix<float>(items, 9, 5),
                                           WmfTraining{.weighting = {.alpha = 5},
                                                       .lambda = {.lambda = 2},
                                                       .users = training.rows,
                                                       .item_users = column_counts(training.view())}));
    models.push_back(std::make_unique<Popularity>(Popularity::train(training.view())));
  }

  std::vector<std::unique_ptr<Scorer>> models;
  Csr histories = random_csr(users, items, 0.1, false, 6, true);
  Csr targets = random_csr(users, items, 0.05, false, 7, true);
  Execution execution{.threads = 2};
};
INSTANTIATE_TEST_SUITE_P(Backends, RankedUsers, ::testing::ValuesIn(testing::all_backends()),
                         testing::case_name);

TEST_P(RankedUsers, AreThoseOfTheProcessor) {
  for (const auto& model : models) {
    const RankedLists wanted = recommend(*model, histories.view(), {.k = 20}, execution);
    std::int64_t seen = 0;
    Ranker(*model, backend.get(), {.threads = 1})
        .rank({histories.view(), rows_themselves(histories), 20}, "ranking", [&](const RankedUser& user) {
          const auto [row, ranked, scores, all] = user;
          ++seen;
          ASSERT_TRUE(all.empty());
          ASSERT_EQ(std::ssize(ranked), wanted.size(row));
          // Items may change places where scores are nearly equal.
          for (std::size_t k = 0; k < ranked.size(); ++k)
            ASSERT_NEAR(scores[k], wanted.scores(row)[k], 1e-5 * (1 + std::abs(wanted.scores(row)[k])))
                << row << ", " << k;
        });
    EXPECT_EQ(seen, users);
  }
}

/// Whatever the backend, a user's scores do not depend on the others; on a GPU but for rounding.
TEST_P(RankedUsers, AUserAloneIsAUserAmongOthers) {
  for (const auto& model : models) {
    const ScoreRows score = model->on(*backend, execution);
    Resident<float> together(*backend, users, items);
    score(histories.view(), 0, together.view());
    const Matrix<float> wanted = together.home();
    Resident<float> alone(*backend, 1, items);
    for (const std::int64_t u : {0, 7, 299}) {
      score(histories.view(), u, alone.view());
      const Matrix<float> got = alone.home();
      const double rounding = backend->traits().own_memory ? 1e-5 : 0;
      for (std::int64_t i = 0; i < items; ++i)
        ASSERT_NEAR(got(0, i), wanted(u, i), rounding) << u << ", " << i;
    }
  }
}

TEST_P(RankedUsers, EvaluateAlike) {
  for (const auto& model : models) {
    const EvaluateOptions options{
        .metrics = parse_metrics("recall@20,ndcg@100,coverage@5,auc,gini@5,entropy@5,popularity@5,"
                                 "tail-share@5,novelty@5,diversity@5,calibration@5"),
        .item_hits_at = 10};
    const std::vector<std::int64_t> counts = column_counts(histories.view());
    const TrainingView training(counts, histories.view());
    const EvaluationResult wanted =
        evaluate(*model, histories.view(), targets.view(), training, options, execution);
    const EvaluationResult got =
        evaluate(*model, histories.view(), targets.view(), training, options, execution, backend.get());
    const EvaluationResult again =
        evaluate(*model, histories.view(), targets.view(), training, options, {.threads = 1}, backend.get());
    EXPECT_EQ(got.users, wanted.users);
    EXPECT_EQ(got.item_hits, again.item_hits);
    for (std::size_t m = 0; m < wanted.metrics.size(); ++m) {
      EXPECT_NEAR(got.metrics[m].mean, wanted.metrics[m].mean, 1e-4 * std::max(1.0, wanted.metrics[m].mean));
      EXPECT_EQ(got.metrics[m].mean, again.metrics[m].mean) << "not the same bytes";
    }
  }
}

TEST_P(RankedUsers, ExcludedItemsAndOnlySomeItems) {
  const FullRank model(random_matrix<float>(items, items, 1));
  for (const bool exclude_history : {false, true}) {
    for (const bool only : {false, true}) {
      RecommendOptions options{.k = 12, .exclude_history = exclude_history, .exclude = {7, 3, 3, 149}};
      if (only) options.only = std::vector<std::int32_t>{1, 3, 5, 7, 11, 120};
      const RankedLists wanted = recommend(model, histories.view(), options, execution);
      const RankedLists got = recommend(model, histories.view(), options, execution, backend.get());
      for (std::int64_t u = 0; u < users; ++u) {
        ASSERT_EQ(got.size(u), wanted.size(u));
        for (std::int64_t k = 0; k < got.size(u); ++k)
          ASSERT_NEAR(got.scores(u)[k], wanted.scores(u)[k], 1e-5) << u << ", " << k;
        for (const std::int32_t item : got.items(u)) ASSERT_TRUE(item != 3 && item != 7 && item != 149);
      }
    }
  }
}

TEST_P(RankedUsers, HistoriesOverOtherItemsAreRefused) {
  const Csr other = random_csr(3, items + 1, 0.1, false, 6);
  testing::expect_error(ErrorKind::input, "histories", [&] {
    Ranker(*models.front(), backend.get(), execution)
        .rank({other.view(), rows_themselves(other), 2}, "ranking", [](const RankedUser&) {});
  });
}

}  // namespace
}  // namespace poise
