#include "poise/base/parallel.hpp"

#include <atomic>
#include <exception>
#include <mutex>

#include <sched.h>

namespace poise {

int Execution::default_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return 1;
}

void for_each_tile(std::int64_t tiles, int threads, const std::function<void(std::int64_t)>& body) {
  std::mutex mutex;
  std::exception_ptr error;
  std::atomic<std::int64_t> failed = tiles;  // the lowest tile that threw
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1 && tiles > 1)
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
