#pragma once

#include <cstdint>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace poise::testing {

/// While it lives this process can take at most `bytes` of memory more than it has; mapped files do not
/// count.
class DataLimit {
 public:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool works = false;
#else
  static constexpr bool works = true;
#endif

  explicit DataLimit(std::uint64_t bytes) {
    std::uint64_t field[6] = {};  // the sixth of statm: pages of data
    std::ifstream statm("/proc/self/statm");
    for (std::uint64_t& value : field) statm >> value;
    ::getrlimit(RLIMIT_DATA, &previous_);
    const rlimit limit{field[5] * ::sysconf(_SC_PAGESIZE) + bytes, previous_.rlim_max};
    ::setrlimit(RLIMIT_DATA, &limit);
  }
  DataLimit(const DataLimit&) = delete;
  DataLimit& operator=(const DataLimit&) = delete;
  ~DataLimit() { ::setrlimit(RLIMIT_DATA, &previous_); }

 private:
  rlimit previous_ = {};
};

}  // namespace poise::testing
