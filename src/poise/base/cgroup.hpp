#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace poise {

/// The limits of this process' control groups: the smallest one from its own group up to the root.
struct CgroupLimits {
  std::optional<std::uint64_t> memory;  ///< bytes
  std::optional<int> cpus;              ///< the CPU time of how many cores, rounded up
};

/// Reads both versions: `membership` says which groups the process is in (see man 7 cgroups), `root` is where
/// their files are mounted. A file that cannot be read sets no limit.
CgroupLimits cgroup_limits(const std::filesystem::path& membership = "/proc/self/cgroup",
                           const std::filesystem::path& root = "/sys/fs/cgroup");

}  // namespace poise
