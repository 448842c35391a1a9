#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "poise/evaluate/user_ranking.hpp"

#include "support/expect_error.hpp"

namespace poise {
namespace {

using testing::expect_error;
using Items = std::vector<std::int32_t>;

TEST(ParseMetric, EveryNameAndBack) {
  for (const std::string name :
       {"recall", "ndcg", "precision", "map", "hit-rate", "mrr", "stratified-recall", "popularity",
        "tail-share", "novelty", "diversity", "calibration", "coverage", "gini", "entropy"}) {
    EXPECT_EQ(to_string(parse_metric(name + "@17")), name + "@17");
  }
  EXPECT_EQ(to_string(parse_metric("auc")), "auc");
  EXPECT_EQ(parse_metrics("auc,ndcg@3,auc"),
            (std::vector<Metric>{{MetricKind::auc, 0}, {MetricKind::ndcg, 3}}));
  EXPECT_EQ(parse_metric("ndcg@100"), (Metric{MetricKind::ndcg, 100}));
  EXPECT_EQ(parse_metric("stratified-recall@1"), (Metric{MetricKind::stratified_recall, 1}));
  EXPECT_EQ(parse_metric("recall@2147483648").at, 2147483648);
}

TEST(ParseMetric, RefusesAnythingElse) {
  for (const std::string text : {"", "recall", "@5", "Recall@5", "recal@5", "recall @5", "auc@10", "auc@",
                                 "AUC", "auc ", "recall-5"}) {
    expect_error(ErrorKind::usage, "'" + text + "'", [&] { parse_metric(text); });
  }
  for (const std::string text :
       {"recall@", "recall@0", "recall@-1", "recall@+1", "recall@5x", "recall@ 5", "recall@5 ", "recall@1.5",
        "recall@2147483649", "recall@99999999999999999999", "recall@5@6"}) {
    expect_error(ErrorKind::usage, "whole number", [&] { parse_metric(text); });
  }
}

TEST(ParseMetric, AimsOfASearch) {
  for (const std::string text : {"ndcg@100", "auc", "novelty@20", "popularity@5"})
    EXPECT_EQ(to_string(parse_aim(text)), text);
  for (const std::string text : {"coverage@20", "gini@1", "entropy@3"})
    expect_error(ErrorKind::usage, text + " is one number for all users", [&] { parse_aim(text); });
  expect_error(ErrorKind::usage, "calibration@20 is better the lower it is",
               [&] { parse_aim("calibration@20"); });
}

TEST(ParseMetric, Lists) {
  const std::vector<Metric> wanted = {{MetricKind::recall, 20}, {MetricKind::ndcg, 100}};
  EXPECT_EQ(parse_metrics("recall@20,ndcg@100"), wanted);
  EXPECT_EQ(parse_metrics("recall@20,ndcg@100,recall@20"), wanted);
  for (const std::string text : {"", ",", "recall@20,", ",recall@20", "recall@20,,ndcg@100"}) {
    expect_error(ErrorKind::usage, "unknown metric ''", [&] { parse_metrics(text); });
  }
}

/// Ranks 1 to 6 hold items 10, 3, 7, 8, 2, 5; the targets are 2, 3, 5 and the unranked 9: hits at ranks 2,
/// 5, 6.
class Measure : public ::testing::Test {
 protected:
  [[nodiscard]] double value(const std::string& metric,
                             RecallDenominator denominator = RecallDenominator::min) const {
    const std::vector<Metric> metrics = {parse_metric(metric)};
    const ItemFacts facts(11, counts, metrics, 1);
    const UserRanking ranking{.items = ranked, .targets = targets, .facts = &facts};
    return measure(metrics[0], denominator, ranking, hit_ranks(ranking));
  }

  Items ranked = {10, 3, 7, 8, 2, 5};
  Items targets = {2, 3, 5, 9};
  // s = 1/sqrt(count): items 2, 3, 5, 9 have 4, 1, 16 and no training users.
  std::vector<std::int64_t> counts = {7, 7, 4, 1, 7, 16, 7, 7, 7, 0, 7};
};

TEST_F(Measure, Recall) {
  EXPECT_DOUBLE_EQ(value("recall@1"), 0);
  EXPECT_DOUBLE_EQ(value("recall@2"), 1.0 / 2);
  EXPECT_DOUBLE_EQ(value("recall@5"), 2.0 / 4);
  EXPECT_DOUBLE_EQ(value("recall@6"), 3.0 / 4);
  EXPECT_DOUBLE_EQ(value("recall@1000000"), 3.0 / 4);
  EXPECT_DOUBLE_EQ(value("recall@2", RecallDenominator::targets), 1.0 / 4);
  EXPECT_DOUBLE_EQ(value("recall@6", RecallDenominator::targets), 3.0 / 4);
}

TEST_F(Measure, Ndcg) {
  // Discounts of ranks 1 to 6: 1, 0.6309297536, 0.5, 0.4306765581, 0.3868528072, 0.3562071871.
  EXPECT_NEAR(value("ndcg@1"), 0, 1e-15);
  EXPECT_NEAR(value("ndcg@2"), 0.6309297536 / 1.6309297536, 1e-9);
  EXPECT_NEAR(value("ndcg@3"), 0.6309297536 / 2.1309297536, 1e-9);
  EXPECT_NEAR(value("ndcg@6"), 1.3739897479 / 2.5616063117, 1e-9);
  EXPECT_NEAR(value("ndcg@100", RecallDenominator::targets), 1.3739897479 / 2.5616063117, 1e-9);
}

TEST_F(Measure, PrecisionMapHitRateAndMrr) {
  EXPECT_DOUBLE_EQ(value("precision@2"), 1.0 / 2);
  EXPECT_DOUBLE_EQ(value("precision@5"), 2.0 / 5);
  EXPECT_DOUBLE_EQ(value("precision@10"), 3.0 / 10);
  EXPECT_DOUBLE_EQ(value("map@1"), 0);
  EXPECT_DOUBLE_EQ(value("map@3"), (1.0 / 2) / 3);
  EXPECT_DOUBLE_EQ(value("map@6"), (1.0 / 2 + 2.0 / 5 + 3.0 / 6) / 4);
  EXPECT_DOUBLE_EQ(value("hit-rate@1"), 0);
  EXPECT_DOUBLE_EQ(value("hit-rate@2"), 1);
  EXPECT_DOUBLE_EQ(value("hit-rate@50"), 1);
  EXPECT_DOUBLE_EQ(value("mrr@1"), 0);
  EXPECT_DOUBLE_EQ(value("mrr@2"), 0.5);
  EXPECT_DOUBLE_EQ(value("mrr@6"), 0.5);
}

TEST_F(Measure, StratifiedRecall) {
  // s of 2, 3, 5, 9: 0.5, 1, 0.25, 1.
  EXPECT_DOUBLE_EQ(value("stratified-recall@1"), 0);
  EXPECT_DOUBLE_EQ(value("stratified-recall@2"), 1.0 / 2);
  EXPECT_DOUBLE_EQ(value("stratified-recall@5"), 1.5 / 2.75);
  EXPECT_DOUBLE_EQ(value("stratified-recall@6"), 1.75 / 2.75);
  EXPECT_DOUBLE_EQ(value("stratified-recall@2", RecallDenominator::targets), 1.0 / 2.75);
}

TEST_F(Measure, PerfectAndEmptyRankings) {
  ranked = {9, 5, 3, 2};
  for (const std::string metric :
       {"recall@4", "ndcg@4", "ndcg@10", "precision@4", "map@9", "stratified-recall@4", "mrr@1"}) {
    EXPECT_EQ(value(metric), 1) << metric;
  }
  ranked.clear();
  for (const std::string metric :
       {"recall@4", "ndcg@4", "precision@4", "map@9", "stratified-recall@4", "mrr@1", "hit-rate@3"}) {
    EXPECT_EQ(value(metric), 0) << metric;
  }
}

}  // namespace
}  // namespace poise
