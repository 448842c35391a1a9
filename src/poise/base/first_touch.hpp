#pragma once

#include <cstdint>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "poise/base/parallel.hpp"

namespace poise {

/// vector.resize(size) for vectors of hundreds of megabytes. The system maps memory page by page at the first
/// touch, which takes far longer than filling it, most of all in a virtual machine. So this asks for large
/// pages and touches them from several threads.
template <class T>
void resize_by_threads(std::vector<T>& vector, std::int64_t size, int threads) {
  constexpr std::int64_t page = 4096;
  constexpr std::int64_t large_page = std::int64_t{1} << 21;
  vector.reserve(size);
  const auto used = static_cast<std::int64_t>(vector.size());
  const std::int64_t bytes = (size - used) * static_cast<std::int64_t>(sizeof(T));
  if (bytes >= 2 * large_page) {
    // Reserved storage without elements.
    auto* const begin = reinterpret_cast<char*>(vector.data() + used);
#ifdef __linux__
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const std::uintptr_t aligned = (address + large_page - 1) / large_page * large_page;
    const std::uintptr_t length = (address + bytes - aligned) / large_page * large_page;
    // If the system refuses, only the speed changes.
    static_cast<void>(madvise(begin + (aligned - address), length, MADV_HUGEPAGE));
#endif
    const Tiling tiling{bytes, 2 * large_page};
    for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
      for (std::int64_t at = tiling.first(tile); at < tiling.last(tile); at += page)
        static_cast<volatile char*>(begin)[at] = 0;
    });
  }
  vector.resize(size);
}

}  // namespace poise
