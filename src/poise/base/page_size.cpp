#include "poise/base/page_size.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace poise {

namespace {

constexpr std::size_t large_page = std::size_t{1} << 21U;
constexpr std::size_t in_small_pages = std::size_t{1} << 27U;  // then a large one is tried again
constexpr double slow = 1e-3;                                  // seconds to clear a large page

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

double time_of_first_touch(volatile char* byte) {
  const double before = thread_seconds();
  *byte = 0;
  return thread_seconds() - before;
}

void choose_page_size(void* memory, std::size_t bytes, const FirstTouch& touch) {
#ifdef __linux__
  auto* const begin = static_cast<char*>(memory);
  const std::size_t first = (large_page - reinterpret_cast<std::uintptr_t>(begin) % large_page) % large_page;
  for (std::size_t at = first; at + 2 * large_page <= bytes;) {
    const bool fast = touch(begin + at) <= slow;
    at += large_page;
    if (fast) continue;
    const std::size_t length = std::min(in_small_pages, (bytes - at) / large_page * large_page);
    // If the system refuses, only the speed changes.
    static_cast<void>(madvise(begin + at, length, MADV_NOHUGEPAGE));
    at += length;
  }
#endif
}

}  // namespace poise
