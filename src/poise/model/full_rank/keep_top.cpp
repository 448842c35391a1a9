#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>

#include "poise/base/error.hpp"
#include "poise/base/parallel.hpp"
#include "poise/model/full_rank/full_rank.hpp"

namespace poise {
namespace {

/// B is read by rows, of which a tile's piece is whole cache lines.
constexpr std::int64_t columns_at_once = 64;

/// Floats without their sign are ordered as their bits.
std::uint32_t size_bits(float entry) { return std::bit_cast<std::uint32_t>(entry) & 0x7FFFFFFFU; }

/// The largest entries of one column so far, offered by ascending row: as integers that are larger for the
/// entry to keep. They wait in a list, which is cut down to the largest `width` when it holds twice as many.
class LargestEntries {
 public:
  void offer(std::uint32_t size, std::int64_t row) {
    keys_.push_back((std::uint64_t{size} << 32) | (0xFFFFFFFFU - static_cast<std::uint32_t>(row)));
  }
  [[nodiscard]] std::int64_t waiting() const { return static_cast<std::int64_t>(keys_.size()); }
  /// Keeps the largest and returns the size that later entries must exceed: those of the same size have
  /// higher rows.
  std::uint32_t cut(std::int64_t width) {
    if (waiting() < width) return 0;
    std::nth_element(keys_.begin(), keys_.begin() + (width - 1), keys_.end(), std::greater<>());
    keys_.resize(width);
    return static_cast<std::uint32_t>(keys_[width - 1] >> 32);
  }
  /// Writes the rows, ascending; at most as many as fit. Returns how many.
  std::int64_t finish(std::span<std::int32_t> rows) {
    cut(static_cast<std::int64_t>(rows.size()));
    std::transform(keys_.begin(), keys_.end(), rows.begin(), [](std::uint64_t key) {
      return static_cast<std::int32_t>(0xFFFFFFFFU - static_cast<std::uint32_t>(key));
    });
    std::sort(rows.begin(), rows.begin() + waiting());
    return waiting();
  }

 private:
  std::vector<std::uint64_t> keys_;
};

using Thresholds = std::array<std::uint32_t, columns_at_once>;

/// No branch inside, so that it vectorizes: few entries are among the largest so far.
bool any_above(std::span<const float> entries, const Thresholds& thresholds) {
  std::uint32_t any = 0;
  for (std::size_t c = 0; c < entries.size(); ++c)
    any |= static_cast<std::uint32_t>(size_bits(entries[c]) > thresholds[c]);
  return any != 0;
}

/// The largest entries of columns [first, first + count).
std::vector<LargestEntries> largest_entries(MatrixView<const float> B, std::int64_t first, std::int64_t count,
                                            std::int64_t width) {
  std::vector<LargestEntries> largest(count);
  Thresholds thresholds = {};  // zeros do not exceed it
  for (std::int64_t j = 0; j < B.rows; ++j) {
    const auto entries = B.row(j).subspan(first, count);
    if (!any_above(entries, thresholds)) continue;
    for (std::int64_t c = 0; c < count; ++c) {
      const std::uint32_t size = size_bits(entries[c]);
      if (size <= thresholds[c]) continue;
      largest[c].offer(size, j);
      if (largest[c].waiting() == 2 * width) thresholds[c] = largest[c].cut(width);
    }
  }
  return largest;
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
  Csr columns{.rows = B.cols, .cols = B.rows, .offsets = {0}};
  columns.indices.resize(B.cols * width);
  columns.values.resize(B.cols * width);
  std::vector<std::int64_t> counts(B.cols);

  const Tiling tiling{B.cols, columns_at_once};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    const std::int64_t first = tiling.first(tile);
    auto largest = largest_entries(B, first, tiling.last(tile) - first, width);
    for (std::int64_t c = first; c < tiling.last(tile); ++c) {
      const auto rows = std::span(columns.indices).subspan(c * width, width);
      counts[c] = largest[c - first].finish(rows);
      for (std::int64_t e = 0; e < counts[c]; ++e) columns.values[c * width + e] = B(rows[e], c);
    }
  });

  close_gaps(columns.indices, width, counts);
  close_gaps(columns.values, width, counts);
  columns.offsets.resize(B.cols + 1);
  std::partial_sum(counts.begin(), counts.end(), columns.offsets.begin() + 1);
  return transpose(columns.view());
}

}  // namespace poise
