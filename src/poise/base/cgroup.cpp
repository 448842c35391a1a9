#include "poise/base/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace poise {
namespace {

namespace fs = std::filesystem;

template <class Number>
void lower(std::optional<Number>& limit, Number value) {
  limit = limit ? std::min(*limit, value) : value;
}

/// The folders of a group and of all groups above it. A container may see its group's name but not its
/// folder; its own folder is then the mounted root.
std::vector<fs::path> folders_up(const fs::path& mount, const std::string& group) {
  std::vector<fs::path> folders = {mount};
  fs::path folder = mount;
  for (const fs::path& name : fs::path(group).relative_path()) {
    if (name == "..") return {mount};  // outside the mount
    folders.push_back(folder /= name);
  }
  return folders;
}

void read_memory(const fs::path& file, CgroupLimits& limits) {
  std::ifstream input(file);
  std::uint64_t bytes = 0;  // "max" does not parse: no limit
  if (input >> bytes && bytes > 0) lower(limits.memory, bytes);
}

void set_cpus(double quota, double period, CgroupLimits& limits) {
  // Version 1 writes -1 for no quota.
  if (!(quota > 0 && period > 0 && quota / period < 1e6)) return;
  lower(limits.cpus, std::max(1, static_cast<int>((quota + period - 1) / period)));
}

void read_cpu_max(const fs::path& file, CgroupLimits& limits) {
  std::ifstream input(file);
  double quota = 0;
  double period = 0;
  if (input >> quota >> period) set_cpus(quota, period, limits);
}

void read_cfs_quota(const fs::path& folder, CgroupLimits& limits) {
  std::ifstream quota_file(folder / "cpu.cfs_quota_us");
  std::ifstream period_file(folder / "cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (quota_file >> quota && period_file >> period) set_cpus(quota, period, limits);
}

bool names(const std::string& controllers, const std::string& one) {
  return ("," + controllers + ",").find("," + one + ",") != std::string::npos;
}

}  // namespace

CgroupLimits cgroup_limits(const fs::path& membership, const fs::path& root) {
  CgroupLimits limits;
  std::ifstream file(membership);
  // A line is NUMBER:CONTROLLERS:GROUP; version 2 has number 0 and no controllers.
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const fs::path& folder : folders_up(root, group)) {
        read_memory(folder / "memory.max", limits);
        read_cpu_max(folder / "cpu.max", limits);
      }
    }
    if (names(controllers, "memory")) {
      for (const fs::path& folder : folders_up(root / "memory", group))
        read_memory(folder / "memory.limit_in_bytes", limits);
    }
    if (names(controllers, "cpu")) {
      for (const fs::path& folder : folders_up(root / "cpu", group)) read_cfs_quota(folder, limits);
    }
  }
  return limits;
}

}  // namespace poise
