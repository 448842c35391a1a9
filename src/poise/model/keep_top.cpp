#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "poise/base/error.hpp"
#include "poise/base/parallel.hpp"
#include "poise/model/full_rank.hpp"

namespace poise {
namespace {

/// B is read by rows, a tile's piece of each being two cache lines.
constexpr std::int64_t columns_per_tile = 32;

/// Size and row as one integer that is larger for the entry to keep: floats without their sign are ordered as
/// their bits.
std::uint64_t to_key(float entry, std::int64_t row) {
  const std::uint64_t size = std::bit_cast<std::uint32_t>(entry) & 0x7FFFFFFFU;
  return (size << 32) | (0xFFFFFFFFU - static_cast<std::uint32_t>(row));
}

bool is_zero(std::uint64_t key) { return key >> 32 == 0; }

std::int32_t row_of(std::uint64_t key) {
  return static_cast<std::int32_t>(0xFFFFFFFFU - static_cast<std::uint32_t>(key));
}

/// The rows of the at most `slots.size()` largest entries of one column, ascending; returns how many.
std::int64_t largest(std::span<std::uint64_t> keys, std::span<std::int32_t> slots) {
  const auto nonzero =
      std::partition(keys.begin(), keys.end(), [](std::uint64_t key) { return !is_zero(key); });
  const auto kept = std::min<std::int64_t>(nonzero - keys.begin(), slots.size());
  if (kept < nonzero - keys.begin())
    std::nth_element(keys.begin(), keys.begin() + kept, nonzero, std::greater<>());
  std::transform(keys.begin(), keys.begin() + kept, slots.begin(), row_of);
  std::sort(slots.begin(), slots.begin() + kept);
  return kept;
}

/// Closes the gaps between lists of `width` slots each, of which the first counts[c] are used.
template <class T>
void close_gaps(std::vector<T>& slots, std::int64_t width, const std::vector<std::int64_t>& counts) {
  auto end = slots.begin();
  for (auto begin = slots.begin(); const std::int64_t count : counts) {
    end = std::copy(begin, begin + count, end);
    begin += width;
  }
  slots.erase(end, slots.end());
}

}  // namespace

Csr keep_top(MatrixView<const float> B, std::int64_t per_column, int threads) {
  if (per_column < 1) fail(ErrorKind::usage, "{} entries of each column: keep at least one", per_column);
  const std::int64_t width = std::min(per_column, B.rows);
  Csr columns{.rows = B.cols, .cols = B.rows, .offsets = {0}, .indices = {}, .values = {}};
  columns.indices.resize(B.cols * width);
  columns.values.resize(B.cols * width);
  std::vector<std::int64_t> counts(B.cols);

  const Tiling tiling{B.cols, columns_per_tile};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    const std::int64_t first = tiling.first(tile);
    const std::int64_t count = tiling.last(tile) - first;
    Matrix<std::uint64_t> keys(count, B.rows);
    for (std::int64_t j = 0; j < B.rows; ++j)
      for (std::int64_t c = 0; c < count; ++c) keys(c, j) = to_key(B(j, first + c), j);
    for (std::int64_t c = 0; c < count; ++c) {
      const auto slots = std::span(columns.indices).subspan((first + c) * width, width);
      counts[first + c] = largest(keys.row(c), slots);
      for (std::int64_t e = 0; e < counts[first + c]; ++e)
        columns.values[(first + c) * width + e] = B(slots[e], first + c);
    }
  });

  close_gaps(columns.indices, width, counts);
  close_gaps(columns.values, width, counts);
  columns.offsets.resize(B.cols + 1);
  std::partial_sum(counts.begin(), counts.end(), columns.offsets.begin() + 1);
  return transpose(columns.view());
}

}  // namespace poise
