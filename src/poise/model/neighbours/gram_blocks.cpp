#include "poise/model/neighbours/gram_blocks.hpp"

#include <memory>

#include "poise/base/pool.hpp"
#include "poise/model/neighbours/gram_row.hpp"

namespace poise {
namespace {

constexpr std::int64_t items_per_tile = 16;

/// Where row q of a triangle begins.
constexpr std::int64_t row_start(std::int64_t q, std::int64_t k) { return q * (2 * k + 3 - q) / 2; }

}  // namespace

// Named, as a lambda of the template below captures it.
namespace gram_blocks {

/// A column of the block, and the place of an item among its members.
struct Membership {
  std::int32_t column;
  std::int32_t place;
};

/// The members of each column, its support and then its own item, by their ranks; and for each rank the
/// columns that have it.
struct Members {
  std::int64_t width;               ///< k + 1
  std::vector<std::int32_t> ranks;  ///< count x width
  std::vector<std::int64_t> offsets;
  std::vector<Membership> columns;

  Members(const NeighbourProblem& problem, std::int64_t first, std::int64_t count, std::int64_t k,
          std::span<const std::int32_t> supports)
      : width(k + 1), ranks(count * (k + 1)), offsets(problem.items() + 1, 0), columns(count * (k + 1)) {
    for (std::int64_t c = 0; c < count; ++c) {
      for (std::int64_t p = 0; p < k; ++p) ranks[c * width + p] = problem.rank_of[supports[c * k + p]];
      ranks[c * width + k] = problem.rank_of[first + c];
    }
    for (const std::int32_t rank : ranks) ++offsets[rank + 1];
    for (std::int64_t i = 0; i < problem.items(); ++i) offsets[i + 1] += offsets[i];
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    for (std::int64_t c = 0; c < count; ++c) {
      for (std::int64_t p = 0; p < width; ++p)
        columns[next[ranks[c * width + p]]++] = {static_cast<std::int32_t>(c), static_cast<std::int32_t>(p)};
    }
  }
};

}  // namespace gram_blocks

template <class T>
void GramBlocks<T>::make(const NeighbourProblem& problem, std::int64_t first, std::int64_t count,
                         std::int64_t k, std::span<const std::int32_t> supports, const Execution& execution) {
  size_ = size(k);
  if (std::ssize(triangles_) < count * size_) triangles_ = decltype(triangles_)(count * size_);
  const gram_blocks::Members members(problem, first, count, k, supports);
  Pool<GramRow<T>> rows([&] { return std::make_unique<GramRow<T>>(problem); });
  const Tiling tiling{problem.items(), items_per_tile};
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    stop_if_asked(execution.observer);
    const auto row = rows.take();
    for (std::int64_t rank = tiling.first(tile); rank < tiling.last(tile); ++rank) {
      const std::int64_t last = members.offsets[rank + 1];
      if (members.offsets[rank] == last) continue;
      const std::int32_t i = problem.by_rank[rank];
      row->fill(i);
      const T* const G = row->data();
      for (std::int64_t e = members.offsets[rank]; e < last; ++e) {
        const auto [column, place] = members.columns[e];
        if (e + 4 < last) {
          // The next columns lie all over memory.
          const gram_blocks::Membership& later = members.columns[e + 4];
          __builtin_prefetch(members.ranks.data() + later.column * members.width);
          __builtin_prefetch(triangles_.data() + later.column * size_ + row_start(later.place, k), 1);
        }
        const std::int32_t* const of_column = members.ranks.data() + column * members.width;
        T* const to = triangles_.data() + column * size_ + row_start(place, k);
        for (std::int64_t p = place; p <= k; ++p) to[p - place] = G[of_column[p]];
      }
      row->clear(i);
    }
  });
}

template class GramBlocks<std::uint32_t>;
template class GramBlocks<double>;

}  // namespace poise
