#include "poise/study/splits.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "poise/study/statistics.hpp"

#include "support/sample_splits.hpp"

namespace poise {
namespace {

TEST(OverSplits, IsThePairedTestWhereSplitsShareNothing) {
  const std::vector<double> differences = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
  const std::vector<double> zeros(differences.size(), 0);
  const PairedDifference expected = paired_difference(differences, zeros);
  const PairedDifference found = over_splits(differences, 0);
  EXPECT_EQ(found.users, 10);
  EXPECT_NEAR(found.difference, expected.difference, 1e-12);
  EXPECT_NEAR(found.low, expected.low, 1e-12);
  EXPECT_NEAR(found.high, expected.high, 1e-12);
  EXPECT_NEAR(found.p, expected.p, 1e-12);
}

TEST(OverSplits, IsWidenedForWhatSplitsShare) {
  // Mean 0.02, standard deviation 0.01; Student's quantile of 2 degrees of freedom is 4.302653.
  const std::vector<double> differences = {0.01, 0.02, 0.03};
  const PairedDifference found = over_splits(differences, 0.125);
  EXPECT_NEAR(found.difference, 0.02, 1e-15);
  const double reach = 4.302652730 * 0.01 * std::sqrt(1.0 / 3 + 0.125);
  EXPECT_NEAR(found.high - found.difference, reach, 1e-9);
  EXPECT_NEAR(found.difference - found.low, reach, 1e-9);
  EXPECT_GT(found.p, over_splits(differences, 0).p);
}

TEST(OverSplits, OneSplitSaysNothing) {
  const std::vector<double> one = {0.5};
  const PairedDifference found = over_splits(one, 0.1);
  EXPECT_EQ(found.p, 1);
  EXPECT_FALSE(std::isfinite(found.low));
  EXPECT_FALSE(spread_of(one));
}

TEST(OverSplits, MeansAndSpreadsOfRows) {
  const SplitsResults results = test::sample_splits({0.30, 0.31, 0.35}, {0.33, 0.33, 0.39});
  ASSERT_EQ(results.rows.size(), results.means.rows.size());
  ASSERT_EQ(results.pairs.size(), results.means.pairs.size());
  const StudyRow& unweighted = results.means.rows[0];
  EXPECT_NEAR(find(unweighted.test, "ndcg@100")->mean, 0.32, 1e-12);
  EXPECT_NEAR(*find(unweighted.test, "ndcg@100")->standard_error, std::sqrt(0.0007), 1e-12);
  EXPECT_EQ(results.rows[0].splits, 3);
  EXPECT_EQ(results.rows[1].best_on_validation, 3);
  EXPECT_EQ(results.rows[1].above_popularity, 3);
  const SplitPair& pair = results.pairs[0];
  EXPECT_EQ(pair.splits, 3);
  EXPECT_EQ(pair.positive, 3);
  EXPECT_NEAR(results.means.pairs[0].test.difference, 0.03, 1e-12);
  EXPECT_NEAR(*pair.spread, 0.01, 1e-12);
  // Alphas of 2, 4 and 8.
  EXPECT_NEAR(results.means.rows[1].alpha, 4, 1e-12);
}

TEST(OverSplits, RowsThatASplitLacks) {
  std::vector<StudyResults> splits = {test::one_split(0.3, 0.31, 2), test::one_split(0.3, 0.33, 4)};
  splits[1].rows.erase(splits[1].rows.begin() + 1);
  splits[1].pairs.clear();
  const std::vector<std::uint32_t> seeds = {1, 2};
  const SplitsResults results = over_splits(seeds, splits);
  EXPECT_EQ(results.rows[1].splits, 1);
  EXPECT_FALSE(results.rows[1].alpha[1]);
  EXPECT_EQ(results.pairs[0].splits, 1);
  EXPECT_FALSE(results.pairs[0].spread);
  const auto json = to_json(results);
  EXPECT_TRUE(json["rows"][1]["by_split"]["alpha"][1].is_null());
  EXPECT_TRUE(json["pairs"][0]["spread"].is_null());
  EXPECT_TRUE(json["pairs"][0]["interval"][0].is_null());
}

TEST(OverSplits, ASearchThatIsNotCompleteDecidesNothing) {
  std::vector<StudyResults> splits = {test::one_split(0.3, 0.31, 2), test::one_split(0.3, 0.33, 4)};
  splits[1].pairs[0].complete = false;
  const std::vector<std::uint32_t> seeds = {1, 2};
  const SplitsResults results = over_splits(seeds, splits);
  EXPECT_EQ(results.pairs[0].complete, 1);
  EXPECT_FALSE(results.means.pairs[0].complete);
}

TEST(OverSplits, JsonAndCsvHaveTheSameFigures) {
  const SplitsResults results = test::sample_splits({0.30, 0.31, 0.35}, {0.33, 0.33, 0.39});
  const auto json = to_json(results);
  EXPECT_EQ(json["splits"].size(), 3);
  EXPECT_EQ(json["splits"][1]["seed"], 2);
  const auto& row = json["rows"][1];
  EXPECT_EQ(row["splits"], 3);
  EXPECT_EQ(row["best_on_validation"], true);
  EXPECT_EQ(row["test"]["ndcg@100"]["by_split"].size(), 3);
  EXPECT_FALSE(row["test"]["ndcg@100"].contains("stderr"));
  EXPECT_FALSE(row.contains("certificate"));
  EXPECT_EQ(json["pairs"][0]["positive_in"], 3);
  const std::string csv = to_csv(results);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + std::ssize(results.rows));
  const std::string header = csv.substr(0, csv.find('\n'));
  for (std::size_t at = 0; at < csv.size(); at = csv.find('\n', at) + 1)
    EXPECT_EQ(std::count(csv.begin() + at, csv.begin() + csv.find('\n', at), ','),
              std::ranges::count(header, ','));
}

}  // namespace
}  // namespace poise
