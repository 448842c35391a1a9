#include "poise/comm/launcher.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace poise {
namespace {

std::optional<Launch> launch_by(const std::map<std::string, std::string>& environment) {
  return find_launch([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launcher, NoVariablesNoLauncher) {
  EXPECT_FALSE(launch_by({}));
  EXPECT_FALSE(launch_by({{"OMPI_MCA_btl", "self"}, {"SLURM_NTASKS", "4"}}));
  EXPECT_FALSE(launch_by({{"OMPI_COMM_WORLD_SIZE", ""}}));
  EXPECT_FALSE(launch_by({{"OMPI_COMM_WORLD_SIZE", "many"}}));
  EXPECT_FALSE(launch_by({{"PMI_RANK", "0"}}));  // of something else than a launcher
}

TEST(Launcher, EachSaysHowManyItStarted) {
  EXPECT_EQ(launch_by({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "1"}})->size, 4);
  EXPECT_EQ(launch_by({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}})->size, 3);
  EXPECT_TRUE(launch_by({{"PMIX_RANK", "1"}}).has_value());
  EXPECT_FALSE(launch_by({{"PMIX_RANK", "1"}})->size.has_value());
}

}  // namespace
}  // namespace poise
