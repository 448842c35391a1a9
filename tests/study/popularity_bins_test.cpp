#include "poise/study/popularity_bins.hpp"

#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(PopularityBins, EqualSharesOfInteractionsRarestFirst) {
  const std::vector<std::int64_t> counts = {10, 1, 2, 5, 2};  // ascending: 1, 2, 2, 5, 10
  const std::vector<std::int64_t> targets = {4, 1, 1, 2, 0};
  const std::vector<std::int64_t> hits = {3, 0, 1, 1, 0};
  const std::vector<PopularityBin> bins = popularity_bins(counts, targets, hits, 2);
  ASSERT_EQ(bins.size(), 2U);
  EXPECT_EQ(bins[0].least, 1);
  EXPECT_EQ(bins[0].most, 5);
  EXPECT_EQ(bins[0].items, 4);
  EXPECT_EQ(bins[0].targets, 4);
  EXPECT_DOUBLE_EQ(bins[0].recall, 0.5);
  EXPECT_EQ(bins[1].least, 10);
  EXPECT_EQ(bins[1].items, 1);
  EXPECT_DOUBLE_EQ(bins[1].recall, 0.75);
}

TEST(PopularityBins, EquallyPopularItemsStayTogetherAndEmptyBinsGo) {
  const std::vector<std::int64_t> counts = {3, 3, 3, 3, 9};
  const std::vector<std::int64_t> targets = {1, 1, 1, 1, 0};
  const std::vector<std::int64_t> hits = {1, 0, 0, 0, 0};
  const std::vector<PopularityBin> bins = popularity_bins(counts, targets, hits, 4);
  ASSERT_EQ(bins.size(), 1U);
  EXPECT_EQ(bins[0].items, 4);
  EXPECT_DOUBLE_EQ(bins[0].recall, 0.25);
  EXPECT_TRUE(popularity_bins({}, {}, {}, 4).empty());
}

}  // namespace
}  // namespace poise
