#include "poise/evaluate/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/random_data.hpp"
#include "support/table_scorer.hpp"

namespace poise {
namespace {

using testing::expect_error;
using testing::random_csr;
using testing::TableScorer;

Csr rows_of(std::int64_t cols, const std::vector<std::vector<std::int32_t>>& rows) {
  Csr matrix{.rows = 0, .cols = cols, .offsets = {0}};
  for (const auto& row : rows) {
    matrix.indices.insert(matrix.indices.end(), row.begin(), row.end());
    matrix.offsets.push_back(matrix.entries());
    ++matrix.rows;
  }
  return matrix;
}

/// Five users who all score the six items 6, 5, 4, 4, 2, 1:
///   user  history  ranking      targets  hits of the top 2
///   0     0        1 2 3 4 5    2, 3     rank 2
///   1     1, 2     0 3 4 5      (none)   left out
///   2     (none)   0 1 2 3 4 5  0, 1, 2  ranks 1 and 2
///   3     3, 4     0 1 2 5      3        none: the target is in the history
///   4     all      (nothing)    5        none
class Evaluate : public ::testing::Test {
 protected:
  Evaluate() : scorer(make_table()) {}

  static Matrix<float> make_table() {
    Matrix<float> table(5, 6);
    const float scores[] = {6, 5, 4, 4, 2, 1};
    for (int u = 0; u < 5; ++u) std::copy(scores, scores + 6, table.row(u).begin());
    return table;
  }
  EvaluationResult run(const std::string& metrics,
                       RecallDenominator denominator = RecallDenominator::min) const {
    return evaluate(scorer, histories.view(), targets.view(), counts,
                    {.metrics = parse_metrics(metrics), .denominator = denominator}, {.threads = 1});
  }

  TableScorer scorer;
  Csr histories = rows_of(6, {{0}, {1, 2}, {}, {3, 4}, {0, 1, 2, 3, 4, 5}});
  Csr targets = rows_of(6, {{2, 3}, {}, {0, 1, 2}, {3}, {5}});
  std::vector<std::int64_t> counts = {1, 4, 16, 16, 4, 1};
};

/// Dislikes are left out of the ranking as a history is, of all users and of some.
TEST_F(Evaluate, DislikedItemsAreNotRanked) {
  const Csr disliked = rows_of(6, {{1}, {0}, {0, 3}, {}, {2}});
  const UserRows users(histories.view(), disliked.view());
  const Csr known = all_known(users);
  const EvaluateOptions options{.metrics = parse_metrics("recall@1,ndcg@2,coverage@2")};
  const EvaluationResult expected = evaluate(scorer, known.view(), targets.view(), counts, options, {});
  const EvaluationResult result = evaluate(scorer, users, targets.view(), counts, options, {});
  Evaluation some(scorer, users, targets.view(), counts, options, {});
  some.measure(std::vector<std::int64_t>{2, 0});
  some.measure(std::vector<std::int64_t>{1, 3});
  const EvaluationResult parts = some.finish();
  const EvaluationResult without = run("recall@1,ndcg@2,coverage@2");
  EXPECT_EQ(result.metrics[0].mean, 0.5) << "user 0 finds item 2 and user 2 item 1";
  for (std::size_t k = 0; k < expected.metrics.size(); ++k) {
    EXPECT_EQ(result.metrics[k].mean, expected.metrics[k].mean);
    EXPECT_EQ(parts.metrics[k].mean, expected.metrics[k].mean);
  }
  EXPECT_NE(result.metrics[0].mean, without.metrics[0].mean);
}

/// One user after the other, in any order, gives what all at once do.
TEST_F(Evaluate, PartsGiveWhatAllGive) {
  const EvaluateOptions options{.metrics = parse_metrics("recall@2,ndcg@3,coverage@2,stratified-recall@2"),
                                .item_hits_at = 2};
  const EvaluationResult whole = evaluate(scorer, histories.view(), targets.view(), counts, options, {});
  Evaluation evaluation(scorer, histories.view(), targets.view(), counts, options, {});
  EXPECT_EQ(evaluation.so_far().users, 4);
  for (const std::vector<std::int64_t>& some : {std::vector<std::int64_t>{3}, {}, {2, 0}, {1}})
    evaluation.measure(some);
  const EvaluationResult parts = evaluation.finish();
  EXPECT_EQ(parts.user_rows, whole.user_rows);
  EXPECT_EQ(parts.item_hits, whole.item_hits);
  for (std::int64_t user = 0; user < whole.users; ++user)
    EXPECT_TRUE(std::ranges::equal(parts.per_user.row(user), whole.per_user.row(user)));
  for (std::size_t k = 0; k < whole.metrics.size(); ++k) {
    EXPECT_EQ(parts.metrics[k].mean, whole.metrics[k].mean);
    EXPECT_EQ(parts.metrics[k].standard_error, whole.metrics[k].standard_error);
  }
}

TEST_F(Evaluate, MeansOverUsersWithATarget) {
  const EvaluationResult result = run("recall@2,precision@2,hit-rate@2,mrr@3,map@3");
  EXPECT_EQ(result.users, 4);
  EXPECT_EQ(result.users_without_targets, 1);
  EXPECT_EQ(result.user_rows, (std::vector<std::int64_t>{0, 2, 3, 4}));
  ASSERT_EQ(result.metrics.size(), 5);
  EXPECT_EQ(to_string(result.metrics[3].metric), "mrr@3");
  EXPECT_DOUBLE_EQ(result.metrics[0].mean, (0.5 + 1 + 0 + 0) / 4);
  EXPECT_DOUBLE_EQ(result.metrics[1].mean, (0.5 + 1 + 0 + 0) / 4);
  EXPECT_DOUBLE_EQ(result.metrics[2].mean, 0.5);
  EXPECT_DOUBLE_EQ(result.metrics[3].mean, (0.5 + 1) / 4);
  EXPECT_DOUBLE_EQ(result.metrics[4].mean, ((1.0 / 2 + 2.0 / 3) / 2 + 1) / 4);
  EXPECT_DOUBLE_EQ(result.per_user(0, 0), 0.5);
  EXPECT_DOUBLE_EQ(result.per_user(1, 3), 1);
  // mean 0.375; squared differences 1/64, 25/64, 9/64, 9/64; sd^2 = 44/256.
  EXPECT_DOUBLE_EQ(result.metrics[0].standard_error.value(), std::sqrt(44.0 / 256) / 2);
}

/// What cannot be found is counted, and not measured where it is all.
TEST_F(Evaluate, TargetsInTheHistoryAreCounted) {
  EXPECT_EQ(run("recall@2").known_targets, 2);
  const Csr disliked = rows_of(6, {{2, 4}, {1}, {}, {}, {}});
  const UserRows users(histories.view(), disliked.view());
  EXPECT_EQ(evaluate(scorer, users, targets.view(), counts, {}, {}).known_targets, 3);
  expect_error(ErrorKind::input, "every target is in its user's history",
               [&] { check_findable(evaluate(scorer, histories.view(), histories.view(), counts, {}, {})); });
  targets = rows_of(6, {{2}, {}, {}, {4}, {}});
  expect_error(ErrorKind::input, "or disliked",
               [&] { check_findable(evaluate(scorer, users, targets.view(), counts, {}, {})); });
  targets = rows_of(6, {{2, 5}, {}, {}, {4}, {}});
  const EvaluationResult some = evaluate(scorer, users, targets.view(), counts, {}, {});
  EXPECT_EQ(some.known_targets, 2);
  EXPECT_EQ(some.targets, 3);
  check_findable(some);
}

TEST_F(Evaluate, BothDenominators) {
  EXPECT_DOUBLE_EQ(run("recall@2", RecallDenominator::targets).metrics[0].mean, (0.5 + 2.0 / 3) / 4);
  // s = 1, 1/2, 1/4, 1/4, 1/2, 1: user 0 finds 1/4 of 1/2; user 2 finds 3/2 of 3/2, or of 7/4.
  EXPECT_DOUBLE_EQ(run("stratified-recall@2").metrics[0].mean, (0.5 + 1) / 4);
  EXPECT_DOUBLE_EQ(run("stratified-recall@2", RecallDenominator::targets).metrics[0].mean,
                   (0.5 + 6.0 / 7) / 4);
}

TEST_F(Evaluate, CoverageIsOneNumber) {
  const EvaluationResult result = run("coverage@1,recall@2,coverage@2,coverage@100");
  // The top 1 of users 0, 2, 3 are items 1, 0, 0; their top 2 add item 2.
  EXPECT_DOUBLE_EQ(result.metrics[0].mean, 2.0 / 6);
  EXPECT_DOUBLE_EQ(result.metrics[2].mean, 3.0 / 6);
  EXPECT_DOUBLE_EQ(result.metrics[3].mean, 1);
  EXPECT_FALSE(result.metrics[0].standard_error.has_value());
  EXPECT_DOUBLE_EQ(result.metrics[1].mean, 0.375);
  EXPECT_EQ(result.per_user_metrics, parse_metrics("recall@2"));
  EXPECT_EQ(result.per_user.cols(), 1);
}

TEST_F(Evaluate, CoverageAloneAndRankBeyondTheCatalogue) {
  EXPECT_EQ(run("coverage@3").per_user.cols(), 0);
  EXPECT_DOUBLE_EQ(run("recall@2147483648").metrics[0].mean, (1.0 + 1) / 4);
  EXPECT_DOUBLE_EQ(run("precision@12").metrics[0].mean, (2.0 / 12 + 3.0 / 12) / 4);
}

TEST_F(Evaluate, TrainingCountsAreNeededForStratifiedRecallAlone) {
  counts.clear();
  EXPECT_DOUBLE_EQ(run("recall@2").metrics[0].mean, 0.375);
  expect_error(ErrorKind::input, "each of the 6 items but got 0", [&] { run("stratified-recall@2"); });
}

TEST_F(Evaluate, RefusesWhatMakesNoSense) {
  expect_error(ErrorKind::usage, "no metric",
               [&] { evaluate(scorer, histories.view(), targets.view(), counts, {.metrics = {}}, {}); });
  targets = rows_of(6, {{}, {}, {}, {}, {}});
  expect_error(ErrorKind::input, "no user has a target", [&] { run("recall@2"); });
  targets = rows_of(7, {{0}, {}, {}, {}, {6}});
  expect_error(ErrorKind::input, "over 7 items", [&] { run("recall@2"); });
  targets = rows_of(6, {{0}});
  expect_error(ErrorKind::input, "5 histories but 1 rows", [&] { run("recall@2"); });
  targets = rows_of(6, {{0}, {}, {}, {}, {}});
  histories.cols = 8;
  expect_error(ErrorKind::input, "over 8 items", [&] { run("recall@2"); });
}

TEST(EvaluateBlocks, NanScoreIsAnError) {
  Matrix<float> table(150, 20);
  table(140, 3) = std::numeric_limits<float>::quiet_NaN();
  const TableScorer scorer(std::move(table));
  const Csr histories = random_csr(150, 20, 0.1, false, 1);
  const Csr targets = random_csr(150, 20, 1, false, 2);
  for (const int threads : {1, 2, 5}) {
    expect_error(ErrorKind::numerical, "item number 3 ",
                 [&] { evaluate(scorer, histories.view(), targets.view(), {}, {}, {.threads = threads}); });
  }
}

}  // namespace
}  // namespace poise
