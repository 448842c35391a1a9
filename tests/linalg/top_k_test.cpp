#include "poise/linalg/top_k.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace poise {
namespace {

using testing::expect_error;
using Items = std::vector<std::int32_t>;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

struct Best {
  Items items;
  std::vector<float> scores;
};

Best best(const std::vector<float>& scores, const Candidates& candidates, std::int64_t k) {
  Best result{Items(k, -9), std::vector<float>(k, -9)};
  const std::int64_t size = top_k(scores, candidates, result.items, result.scores);
  for (std::int64_t r = size; r < k; ++r) EXPECT_EQ(result.items[r], -9) << "written beyond the list";
  result.items.resize(size);
  result.scores.resize(size);
  return result;
}

/// Everything sorted, nothing clever.
Best slow_best(const std::vector<float>& scores, const Items& excluded, const Items* only, std::int64_t k) {
  const std::set<std::int32_t> out(excluded.begin(), excluded.end());
  Best result;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(scores.size()); ++i) {
    if (out.count(i) == 0 && (only == nullptr || std::count(only->begin(), only->end(), i) > 0)) {
      result.items.push_back(i);
    }
  }
  std::sort(result.items.begin(), result.items.end(), [&](std::int32_t i, std::int32_t j) {
    return scores[i] != scores[j] ? scores[i] > scores[j] : i < j;
  });
  if (static_cast<std::int64_t>(result.items.size()) > k) result.items.resize(k);
  for (const std::int32_t i : result.items) result.scores.push_back(scores[i]);
  return result;
}

TEST(TopK, OrdersByScoreThenIndex) {
  const Best result = best({1, 5, 3, 5, 2, 3}, {}, 4);
  EXPECT_EQ(result.items, (Items{1, 3, 2, 5}));
  EXPECT_EQ(result.scores, (std::vector<float>{5, 5, 3, 3}));
}

TEST(TopK, ZeroAndMinusZeroTie) {
  EXPECT_EQ(best({-0.0F, 0.0F, -0.0F}, {}, 2).items, (Items{0, 1}));
  std::vector<float> many(200, -0.0F);
  many[150] = 0.0F;
  EXPECT_EQ(best(many, {}, 3).items, (Items{0, 1, 2}));
}

TEST(TopK, ShortListsWhenCandidatesAreFew) {
  const Items excluded = {0, 2};
  EXPECT_EQ(best({9, 1, 9, 2}, {.excluded = excluded}, 5).items, (Items{3, 1}));
  const Items all = {0, 1, 2, 3};
  EXPECT_TRUE(best({9, 1, 9, 2}, {.excluded = all}, 2).items.empty());
  EXPECT_TRUE(best({}, {}, 2).items.empty());
  EXPECT_TRUE(best({1, 2}, {}, 0).items.empty());
}

TEST(TopK, OnlyAndExcludedTogether) {
  const Items only = {1, 3, 4};
  const Items excluded = {0, 3};
  EXPECT_EQ(best({9, 1, 9, 2, 5}, {.excluded = excluded, .only = only}, 5).items, (Items{4, 1}));
  EXPECT_TRUE(best({9, 1}, {.only = Items{}}, 1).items.empty());
}

TEST(TopK, MinusInfinityIsRankedLastAndNeverInvented) {
  const Items excluded = {1};
  const Best result = best({-infinity, 3, -infinity, infinity, -1e30F}, {.excluded = excluded}, 5);
  EXPECT_EQ(result.items, (Items{3, 4, 0, 2}));
  std::vector<float> all(500, -infinity);
  EXPECT_EQ(best(all, {}, 3).items, (Items{0, 1, 2}));
  all[499] = -1;
  EXPECT_EQ(best(all, {}, 2).items, (Items{499, 0}));
}

TEST(TopK, NanAnywhereIsAnError) {
  for (const int size : {1, 7, 8, 100, 1001}) {
    for (const int place : {0, size / 2, size - 1}) {
      for (const float value : {nan, -nan}) {
        std::vector<float> scores(size);
        for (int i = 0; i < size; ++i) scores[i] = static_cast<float>(size - i);
        scores[place] = value;
        const std::string item = "item number " + std::to_string(place) + " ";
        expect_error(ErrorKind::numerical, item, [&] { best(scores, {}, 3); });
        expect_error(ErrorKind::numerical, item, [&] { best(scores, {.only = Items{place}}, 3); });
      }
    }
  }
}

TEST(TopK, LikeAFullSort) {
  std::mt19937 generator(11);
  for (int trial = 0; trial < 400; ++trial) {
    const auto count = static_cast<std::int32_t>(generator() % 700 + 1);
    const auto k = static_cast<std::int64_t>(generator() % (trial % 2 == 0 ? 20 : 800) + 1);
    const auto levels = trial % 3 == 0 ? 4 : 1'000'000;
    std::vector<float> scores(count);
    for (float& score : scores)
      score = static_cast<float>(generator() % levels) - static_cast<float>(levels / 2);
    if (trial % 5 == 1) std::sort(scores.begin(), scores.end());
    if (trial % 5 == 2) std::sort(scores.rbegin(), scores.rend());
    Items excluded;
    Items only;
    for (std::int32_t i = 0; i < count; ++i) {
      // In some trials the best scores are the excluded ones.
      if (trial % 7 == 3 ? scores[i] > 0 : generator() % 4 == 0) excluded.push_back(i);
      if (generator() % 2 == 0) only.push_back(i);
    }
    SCOPED_TRACE(trial);
    const Best wanted = slow_best(scores, excluded, nullptr, k);
    const Best got = best(scores, {.excluded = excluded}, k);
    ASSERT_EQ(got.items, wanted.items);
    ASSERT_EQ(got.scores, wanted.scores);
    ASSERT_EQ(best(scores, {.excluded = excluded, .only = only}, k).items,
              slow_best(scores, excluded, &only, k).items);
  }
}

}  // namespace
}  // namespace poise
