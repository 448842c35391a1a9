#include "poise/base/parallel.hpp"

#include <atomic>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <omp.h>

#include "poise/base/error.hpp"
#include "poise/base/first_touch.hpp"

#include "support/stop_at_once.hpp"

namespace poise {
namespace {

TEST(ForEachTile, RunsEveryTileOnce) {
  for (const int threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> seen(100);
    for_each_tile(100, threads, [&](std::int64_t tile) { ++seen[tile]; });
    for (const auto& count : seen) EXPECT_EQ(count, 1);
  }
}

TEST(ForEachTile, RethrowsTheLowestTilesError) {
  for (const int threads : {1, 2, 7}) {
    try {
      for_each_tile(100, threads, [](std::int64_t tile) {
        if (tile % 10 == 3) fail(ErrorKind::input, "tile {}", tile);
      });
      FAIL() << "no exception";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "tile 3");
      EXPECT_EQ(error.kind(), ErrorKind::input);
    }
  }
}

/// Loops inside of a region, however small, would start new threads each time.
TEST(ForEachTile, RunsAloneWithoutAParallelRegion) {
  for (const auto& [tiles, threads] : {std::pair(1, 8), {5, 1}})
    for_each_tile(tiles, threads, [](std::int64_t) { EXPECT_EQ(omp_get_level(), 0); });
}

TEST(Tiling, CoversTheRangeWithoutOverlap) {
  const Tiling tiling{10, 4};
  EXPECT_EQ(tiling.tiles(), 3);
  EXPECT_EQ(tiling.first(2), 8);
  EXPECT_EQ(tiling.last(2), 10);
  EXPECT_EQ((Tiling{0, 4}.tiles()), 0);
}

TEST(Progress, ThrowsWhenTheObserverStops) {
  testing::StopAtOnce stopper;
  Progress progress(&stopper, "work", 10, "steps");
  try {
    progress.advance(1);
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
}

TEST(ResizeByThreads, IsAResize) {
  for (const std::int64_t size : {0, 10, 3'000'001}) {
    for (const int threads : {1, 3}) {
      std::vector<std::int32_t> vector = {1, 2, 3};
      resize_by_threads(vector, size, threads);
      std::vector<std::int32_t> wanted = {1, 2, 3};
      wanted.resize(size);
      EXPECT_EQ(vector, wanted);
    }
  }
}

}  // namespace
}  // namespace poise
