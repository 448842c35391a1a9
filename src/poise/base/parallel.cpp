#include "poise/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <mutex>

#include <sched.h>

#include "poise/base/cgroup.hpp"

namespace poise {

int usable_cores() {
  // The set must be at least as large as the kernel's, whose size cannot be queried.
  for (int cores = 1024; cores <= (1 << 20); cores *= 2) {
    cpu_set_t* const set = CPU_ALLOC(cores);
    if (set == nullptr) return 1;
    const std::size_t size = CPU_ALLOC_SIZE(cores);
    const bool known = sched_getaffinity(0, size, set) == 0;
    const bool too_small = !known && errno == EINVAL;
    const int count = known ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (!too_small) return std::max(1, count);
  }
  return 1;
}

int Execution::default_threads() {
  const int cores = usable_cores();
  return std::min(cores, cgroup_limits().cpus.value_or(cores));
}

void for_each_tile(std::int64_t tiles, int threads, const std::function<void(std::int64_t)>& body) {
  // More threads than tiles would be useless, and libgomp ends the program if it cannot start a thread.
  const auto used = static_cast<int>(std::clamp<std::int64_t>(tiles, 1, std::max(threads, 1)));
  if (used == 1) {
    // No parallel region, not even of one thread: inside of one, libgomp starts new threads for every loop.
    for (std::int64_t tile = 0; tile < tiles; ++tile) body(tile);
    return;
  }
  std::mutex mutex;
  std::exception_ptr error;
  std::atomic<std::int64_t> failed = tiles;  // the lowest tile that threw
#pragma omp parallel for schedule(dynamic, 1) num_threads(used)
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    if (tile > failed.load(std::memory_order_relaxed)) continue;
    try {
      body(tile);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (tile < failed.load(std::memory_order_relaxed)) {
        failed.store(tile, std::memory_order_relaxed);
        error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace poise
