#pragma once

#include <cstdint>
#include <functional>

#include "poise/base/observer.hpp"

namespace poise {

/// How work runs, which never changes what it computes. Results do not depend on `threads`.
struct Execution {
  int threads = default_threads();
  Observer* observer = nullptr;

  /// The cores this process may use, or the CPU time that its control groups grant it if that is less.
  static int default_threads();
};

/// The cores this process may run on (its affinity mask).
int usable_cores();

/// Runs body(0), ..., body(tiles - 1), each on one thread, at most `threads` at a time, started in index
/// order. If bodies throw, the exception of the lowest throwing tile is rethrown at the end, so that the
/// error does not depend on the thread count either.
void for_each_tile(std::int64_t tiles, int threads, const std::function<void(std::int64_t)>& body);

/// The tiles [first, last) of fixed size that cover [0, count): cut by size, never by thread count.
struct Tiling {
  std::int64_t count;
  std::int64_t size;

  [[nodiscard]] std::int64_t tiles() const { return (count + size - 1) / size; }
  [[nodiscard]] std::int64_t first(std::int64_t tile) const { return tile * size; }
  [[nodiscard]] std::int64_t last(std::int64_t tile) const {
    return first(tile) + size < count ? first(tile) + size : count;
  }
};

/// body(0), ..., body(count - 1), tile by tile.
template <class Body>
void for_each_row(const Tiling& tiling, int threads, const Body& body) {
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    for (std::int64_t row = tiling.first(tile); row < tiling.last(tile); ++row) body(row);
  });
}

}  // namespace poise
