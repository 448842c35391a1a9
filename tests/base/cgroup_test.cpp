#include "poise/base/cgroup.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "poise/base/memory.hpp"
#include "poise/base/parallel.hpp"

namespace poise {
namespace {

namespace fs = std::filesystem;

class CgroupLimitsTest : public ::testing::Test {
 protected:
  CgroupLimitsTest() : root_(fs::temp_directory_path() / ("poise_cgroup_" + std::to_string(::getpid()))) {
    fs::remove_all(root_);
  }
  ~CgroupLimitsTest() override { fs::remove_all(root_); }

  void write(const fs::path& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text << "\n";
  }
  CgroupLimits limits() { return cgroup_limits(root_ / "membership", root_); }

  fs::path root_;
};

TEST_F(CgroupLimitsTest, SmallestOnTheWayUpCounts) {
  write("membership", "0::/a/b/c");
  write("memory.max", "max");
  write("a/memory.max", "1000");
  write("a/b/memory.max", "5000");
  write("a/b/c/memory.max", "max");
  write("a/cpu.max", "250000 100000");
  write("a/b/cpu.max", "max 100000");
  EXPECT_EQ(limits().memory, 1000);
  EXPECT_EQ(limits().cpus, 3);
  write("other/memory.max", "1");
  EXPECT_EQ(limits().memory, 1000);
}

TEST_F(CgroupLimitsTest, VersionOne) {
  write("membership", "4:memory:/x/y\n1:cpu,cpuacct:/x\n0::/");
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  write("memory/x/y/memory.limit_in_bytes", "4096");
  write("cpu/x/cpu.cfs_quota_us", "50000");
  write("cpu/x/cpu.cfs_period_us", "100000");
  EXPECT_EQ(limits().memory, 4096);
  EXPECT_EQ(limits().cpus, 1);
  write("cpu/x/cpu.cfs_quota_us", "-1");
  EXPECT_FALSE(limits().cpus);
}

TEST_F(CgroupLimitsTest, WhatCannotBeReadLimitsNothing) {
  EXPECT_FALSE(limits().memory);
  write("membership", "nonsense\n0::/../outside");
  write("outside/memory.max", "1");
  EXPECT_FALSE(limits().memory);
  EXPECT_FALSE(limits().cpus);
  write("memory.max", "77");
  EXPECT_EQ(limits().memory, 77);
}

TEST(Machine, DefaultsAreWithinTheMachine) {
  EXPECT_GE(Execution::default_threads(), 1);
  EXPECT_LE(Execution::default_threads(), usable_cores());
  EXPECT_GT(total_memory(), 0);
  EXPECT_LE(total_memory(), machine_memory());
}

}  // namespace
}  // namespace poise
