#include "poise/base/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include "poise/base/cgroup.hpp"

namespace poise {
namespace {

/// The writable memory that this process has mapped. Libraries map some when they are loaded (OpenBLAS 256 MB
/// for its buffers) and touch little of it.
std::uint64_t reserved_data() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  for (int field = 0; field < 6; ++field) file >> pages;  // the sixth is data and stack
  return file ? pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

/// The system's figure.
std::uint64_t peak_resident() {
  // getrusage() would include the peak of the parent process before exec.
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:"))
      return std::strtoull(line.c_str() + line.find_first_of("0123456789"), nullptr, 10) * 1024;
  }
  return 0;
}

struct Peak {
  std::mutex mutex;
  std::uint64_t earlier = 0;   ///< before the last change of `elsewhere`
  std::int64_t elsewhere = 0;  ///< bytes of this process that count for others

  [[nodiscard]] std::uint64_t of_now() const {
    const auto resident = static_cast<std::int64_t>(peak_resident());
    return std::max(earlier, static_cast<std::uint64_t>(std::max<std::int64_t>(0, resident - elsewhere)));
  }
} peak;

}  // namespace

std::uint64_t machine_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t total_memory() {
  const std::uint64_t machine = machine_memory();
  return std::min(machine, cgroup_limits().memory.value_or(machine));
}

std::uint64_t peak_memory() {
  const std::lock_guard lock(peak.mutex);
  return peak.of_now();
}

void count_elsewhere(std::int64_t bytes) {
  const std::lock_guard lock(peak.mutex);
  peak.earlier = peak.of_now();
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak begins anew
  peak.elsewhere += bytes;
}

void limit_memory(std::uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(bytes + reserved_data(), limit.rlim_max);
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace poise
