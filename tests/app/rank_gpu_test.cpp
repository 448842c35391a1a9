#include "rank_gpu.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/base/error.hpp"

namespace poise::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Rank rank_on(const std::string& host, std::vector<std::string> gpus) {
  Rank rank;
  rank.host = host;
  rank.gpus = std::move(gpus);
  return rank;
}

TEST(RankGpu, ListedOrOfTheDriver) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "rank_gpu";
  EXPECT_THAT(gpus_of(nullptr, folder), IsEmpty());
  for (const char* const bus : {"0000:01:00.0", "0000:02:00.0"})
    std::filesystem::create_directories(folder / bus);
  EXPECT_THAT(gpus_of(nullptr, folder), ElementsAre("0", "1"));
  EXPECT_THAT(gpus_of("", folder), IsEmpty());
  EXPECT_THAT(gpus_of("3", folder), ElementsAre("3"));
  EXPECT_THAT(gpus_of("2,GPU-1b2c", folder), ElementsAre("2", "GPU-1b2c"));
  EXPECT_THAT(gpus_of("1,-1,0", folder), ElementsAre("1"));
  std::filesystem::remove_all(folder);
}

TEST(RankGpu, RanksOfAHostTakeThemInTurn) {
  const std::vector<Rank> ranks = {rank_on("one", {"0", "1", "2"}), rank_on("two", {"4", "5"}),
                                   rank_on("one", {"0", "1", "2"}), rank_on("two", {"4", "5"}),
                                   rank_on("none", {})};
  const std::vector<std::string> wanted = {"0", "4", "1", "5", ""};
  for (int rank = 0; rank < 5; ++rank) EXPECT_EQ(gpu_of(ranks, rank), wanted[static_cast<std::size_t>(rank)]);
}

TEST(RankGpu, TheLauncherMayHaveGivenEachItsOwn) {
  const std::vector<Rank> ranks = {rank_on("one", {"1"}), rank_on("one", {"0"}), rank_on("two", {"1"})};
  EXPECT_EQ(gpu_of(ranks, 0), "1");
  EXPECT_EQ(gpu_of(ranks, 1), "0");
  EXPECT_EQ(gpu_of(ranks, 2), "1");
}

TEST(RankGpu, MoreRanksThanGpusAreRefusedByAll) {
  const std::vector<Rank> ranks = {rank_on("one", {"0", "1"}), rank_on("two", {"0"}), rank_on("two", {"0"})};
  for (int rank = 0; rank < 3; ++rank) {
    try {
      static_cast<void>(gpu_of(ranks, rank));
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.sentence(), HasSubstr("two has 1 GPU for 2 processes"));
    }
  }
}

}  // namespace
}  // namespace poise::app
