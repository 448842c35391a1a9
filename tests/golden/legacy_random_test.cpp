#include "poise/data/legacy_random.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace poise {
namespace {

using Draws = std::vector<std::int32_t>;

// The expected numbers are NumPy's own: numpy.random.RandomState(seed).permutation(n), .choice(n, k, False).
TEST(LegacyRandom, DrawsWhatNumPyDraws) {
  LegacyRandom random(98765);
  EXPECT_EQ(random.permutation(12), (Draws{11, 9, 2, 7, 8, 4, 1, 10, 6, 0, 3, 5}));
  EXPECT_EQ(random.choice(10, 3), (Draws{4, 1, 5}));
  EXPECT_EQ(random.permutation(1), (Draws{0}));
  EXPECT_EQ(random.choice(5, 1), (Draws{0}));
  EXPECT_EQ(random.permutation(7), (Draws{2, 5, 3, 6, 4, 0, 1}));
  EXPECT_EQ(LegacyRandom(0).permutation(10), (Draws{2, 8, 4, 9, 1, 6, 7, 3, 0, 5}));
}

TEST(LegacyRandom, DrawsWhatNumPyDrawsForALongPermutation) {
  const Draws order = LegacyRandom(4294967295).permutation(100'000);
  EXPECT_EQ(Draws(order.begin(), order.begin() + 5), (Draws{85117, 19600, 4648, 56853, 35772}));
  EXPECT_EQ(Draws(order.end() - 3, order.end()), (Draws{44103, 16674, 27043}));
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < 100'000; ++k) sum += k * order[k];
  EXPECT_EQ(sum, 250219665212733);
}

TEST(LegacyRandom, EmptyDraws) {
  LegacyRandom random(1);
  EXPECT_TRUE(random.permutation(0).empty());
  EXPECT_TRUE(random.choice(4, 0).empty());
}

}  // namespace
}  // namespace poise
