#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "poise/evaluate/user_ranking.hpp"

#include "support/expect_error.hpp"

namespace poise {
namespace {

using testing::expect_error;
using Items = std::vector<std::int32_t>;

/// Ten users and five items with 8, 4, 4, 2 and no users: 18 interactions. A fifth are 3.6, so item 0 alone
/// is the head, and items 3 and 4, with 2 interactions, are the tail: with the next count it would have 10.
///
///   item  users
///   0     0 ... 7
///   1     0 ... 3
///   2     2 ... 5
///   3     8, 9
class ListMetrics : public ::testing::Test {
 protected:
  ListMetrics() {
    const std::vector<Items> rows = {{0, 1}, {0, 1}, {0, 1, 2}, {0, 1, 2}, {0, 2},
                                     {0, 2}, {0},    {0},       {3},       {3}};
    for (const Items& row : rows) {
      X.indices.insert(X.indices.end(), row.begin(), row.end());
      X.offsets.push_back(X.entries());
      ++X.rows;
    }
  }
  [[nodiscard]] double value(const std::string& metric) const {
    const std::vector<Metric> metrics = {parse_metric(metric)};
    const ItemFacts facts(5, {counts, X.view()}, metrics, 1);
    const UserRanking ranking{.items = ranked,
                              .targets = targets,
                              .history = history,
                              .known = history,
                              .scores = scores,
                              .facts = &facts};
    return measure(metrics[0], RecallDenominator::min, ranking, hit_ranks(ranking));
  }

  Csr X{.rows = 0, .cols = 5, .offsets = {0}};
  std::vector<std::int64_t> counts = {8, 4, 4, 2, 0};
  Items ranked = {1, 2, 0, 3};
  Items targets = {0};
  Items history = {4};
  std::vector<float> scores = {3, 5, 4, 1, 9};
};

TEST_F(ListMetrics, MeansOverTheList) {
  EXPECT_DOUBLE_EQ(value("popularity@1"), 4);
  EXPECT_DOUBLE_EQ(value("popularity@3"), 16.0 / 3);
  EXPECT_DOUBLE_EQ(value("popularity@50"), 18.0 / 4);
  EXPECT_DOUBLE_EQ(value("tail-share@3"), 0);
  EXPECT_DOUBLE_EQ(value("tail-share@4"), 0.25);
  EXPECT_DOUBLE_EQ(value("novelty@1"), std::log2(10.0 / 4));
  EXPECT_DOUBLE_EQ(value("novelty@4"),
                   (2 * std::log2(10.0 / 4) + std::log2(10.0 / 8) + std::log2(10.0 / 2)) / 4);
  ranked = {4};
  EXPECT_DOUBLE_EQ(value("novelty@4"), std::log2(10.0));  // without users as with one
  EXPECT_DOUBLE_EQ(value("tail-share@4"), 1);
}

TEST_F(ListMetrics, DiversityIsOneLessTheMeanCosine) {
  EXPECT_EQ(value("diversity@1"), 0);
  EXPECT_DOUBLE_EQ(value("diversity@2"), 1 - 2 / 4.0);
  const double of_first = 4 / std::sqrt(32.0);  // items 1 and 2, each with item 0
  EXPECT_DOUBLE_EQ(value("diversity@3"), 1 - (0.5 + 2 * of_first) / 3);
  EXPECT_DOUBLE_EQ(value("diversity@9"), 1 - (0.5 + 2 * of_first) / 6);
  ranked = {4, 3};
  EXPECT_EQ(value("diversity@2"), 1);
}

TEST_F(ListMetrics, CalibrationComparesPopularityGroups) {
  history = {0, 3};  // half head, half tail
  ranked = {0, 3, 1, 2};
  EXPECT_NEAR(value("calibration@2"), 0, 1e-15);
  EXPECT_DOUBLE_EQ(value("calibration@4"), std::log(0.5 / (0.99 * 0.25 + 0.005)));
  EXPECT_DOUBLE_EQ(value("calibration@1"), 0.5 * std::log(0.5 / 0.995) + 0.5 * std::log(100.0));
  history.clear();  // then all training users: 8, 8 and 2 of 18 interactions
  ranked = {0, 1, 3};
  EXPECT_NEAR(value("calibration@3"),
              8.0 / 18 * std::log(8.0 / 18 / (0.33 + 0.08 / 18)) * 2 +
                  2.0 / 18 * std::log(2.0 / 18 / (0.33 + 0.02 / 18)),
              1e-15);
}

TEST_F(ListMetrics, AnEmptyList) {
  ranked.clear();
  for (const std::string metric : {"popularity@3", "tail-share@3", "novelty@3", "diversity@3"})
    EXPECT_EQ(value(metric), 0) << metric;
  EXPECT_DOUBLE_EQ(value("calibration@3"), std::log(100.0));
}

TEST_F(ListMetrics, AucCountsTiesHalf) {
  // The candidates 0 to 3 have 3, 5, 4, 1.
  EXPECT_DOUBLE_EQ(value("auc"), 1.0 / 3);
  scores = {4, 5, 4, 4, 4};
  EXPECT_DOUBLE_EQ(value("auc"), 1.0 / 3);  // two ties
  scores = {0, 0, 0, 0, 0};
  EXPECT_DOUBLE_EQ(value("auc"), 0.5);
  scores = {3, 5, 4, 1, 9};
  targets = {0, 1};  // of four pairs 0 is above 3, 1 is above 2 and 3
  EXPECT_DOUBLE_EQ(value("auc"), 3.0 / 4);
  targets = {1, 4};  // the history's item cannot be found
  EXPECT_DOUBLE_EQ(value("auc"), 1.0 / 2);
  targets = {0, 1, 2, 3};
  EXPECT_DOUBLE_EQ(value("auc"), 1);
  history = {0, 1, 2, 3, 4};
  EXPECT_EQ(value("auc"), 0);
}

TEST_F(ListMetrics, OneItem) {
  X = {.rows = 1, .cols = 1, .offsets = {0, 1}, .indices = {0}};
  const std::vector<Metric> metrics = parse_metrics("novelty@3,calibration@3,tail-share@3,diversity@3,auc");
  const std::vector<std::int64_t> one = {1};
  const ItemFacts facts(1, {one, X.view()}, metrics, 1);
  const Items only = {0};
  const std::vector<float> score = {1};
  const UserRanking ranking{.items = only, .targets = only, .scores = score, .facts = &facts};
  const std::vector<double> wanted = {0, 0, 0, 0, 1};
  for (std::size_t k = 0; k < metrics.size(); ++k)
    EXPECT_NEAR(measure(metrics[k], RecallDenominator::min, ranking, hit_ranks(ranking)), wanted[k], 1e-15)
        << to_string(metrics[k]);
}

TEST(PopularityGroups, EqualCountsAreOneGroup) {
  const std::vector<Metric> metrics = parse_metrics("tail-share@1");
  const auto groups = [&](const std::vector<std::int64_t>& counts) {
    const ItemFacts facts(std::ssize(counts), counts, metrics, 1);
    std::string text;
    for (std::size_t i = 0; i < counts.size(); ++i)
      text += "hmt"[static_cast<int>(facts.group(static_cast<std::int32_t>(i)))];
    return text;
  };
  EXPECT_EQ(groups({3, 3, 3}), "hhh");
  EXPECT_EQ(groups({0, 0}), "tt");
  EXPECT_EQ(groups({0, 5}), "th");
  EXPECT_EQ(groups({10, 10, 10, 10, 10, 10, 1, 1}), "hhhhhhtt");
  EXPECT_EQ(groups({1, 1, 1, 1, 3, 3, 10}), "ttttmmh");  // 4 of 20 are exactly a fifth
  EXPECT_EQ(groups({1, 1, 1, 1, 1, 3, 3, 9}), "mmmmmmmh");
}

TEST(CatalogueMetrics, HandComputed) {
  const auto value = [](const std::string& metric, const std::vector<std::int64_t>& shown) {
    return measure_all(parse_metric(metric), shown);
  };
  EXPECT_DOUBLE_EQ(value("coverage@1", {0, 3, 1, 0}), 0.5);
  EXPECT_DOUBLE_EQ(value("gini@1", {2, 2, 2}), 0);
  EXPECT_DOUBLE_EQ(value("gini@1", {0, 0, 0, 9}), 0.75);
  EXPECT_DOUBLE_EQ(value("gini@1", {1, 3}), 0.25);
  EXPECT_DOUBLE_EQ(value("entropy@1", {4, 4, 4, 4}), 2);
  EXPECT_DOUBLE_EQ(value("entropy@1", {0, 7}), 0);
  EXPECT_DOUBLE_EQ(value("entropy@1", {1, 3}), 2 - 0.75 * std::log2(3.0));
  for (const std::string metric : {"coverage@1", "gini@1", "entropy@1"}) EXPECT_EQ(value(metric, {0, 0}), 0);
  EXPECT_EQ(value("gini@1", {5}), 0);
}

TEST(ItemFacts, NeedsWhatTheMetricsNeed) {
  const std::vector<std::int64_t> counts = {1, 2};
  expect_error(ErrorKind::input, "popularity@3 needs the training count of each of the 3 items but got 2",
               [&] { ItemFacts(3, counts, parse_metrics("popularity@3"), 1); });
  expect_error(ErrorKind::input, "diversity@3 needs the training matrix, users x 2 items",
               [&] { ItemFacts(2, counts, parse_metrics("diversity@3"), 1); });
  EXPECT_NO_THROW(ItemFacts(3, {}, parse_metrics("ndcg@3,auc,coverage@3,gini@1,entropy@1"), 1));
}

}  // namespace
}  // namespace poise
