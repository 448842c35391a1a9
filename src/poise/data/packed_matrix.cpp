#include "poise/data/packed_matrix.hpp"

#include <algorithm>
#include <numeric>

#include "poise/base/first_touch.hpp"
#include "poise/data/packed_lists.hpp"

namespace poise {
namespace {

/// Decoded columns: column c holds indices[starts[c]] up to ends[c] - 1, ascending rows.
struct Columns {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  std::unique_ptr<std::int32_t[]> indices;
  std::unique_ptr<float[]> values;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(starts.size()); }
};

/// How many rows are scattered together: few enough that a cache holds the end of each of them, many enough
/// that cutting every column at every tile costs less than moving the entries.
Tiling row_tiles(std::int64_t rows, std::int64_t cols, std::int64_t entries) {
  constexpr std::int64_t cache_rows = 16'384;
  const std::int64_t max_tiles = std::max<std::int64_t>(1, entries / std::max<std::int64_t>(1, 4 * cols));
  return {rows, std::max(cache_rows, (rows + max_tiles - 1) / max_tiles)};
}

/// Where each column enters each tile of rows: cuts[tile * columns + c].
std::vector<std::int64_t> cut_columns(const Columns& columns, const Tiling& tiling, int threads) {
  std::vector<std::int64_t> cuts((tiling.tiles() + 1) * columns.count());
  const Tiling blocks{columns.count(), 256};
  for_each_tile(blocks.tiles(), threads, [&](std::int64_t block) {
    for (std::int64_t c = blocks.first(block); c < blocks.last(block); ++c) {
      const std::int32_t* at = columns.indices.get() + columns.starts[c];
      const std::int32_t* const end = columns.indices.get() + columns.ends[c];
      for (std::int64_t tile = 0; tile <= tiling.tiles(); ++tile) {
        at = std::lower_bound(at, end, tiling.first(tile));
        cuts[tile * columns.count() + c] = at - columns.indices.get();
      }
    }
  });
  return cuts;
}

/// Columns to rows. Each tile of rows processes the columns in index order, so that its rows ascend.
Csr scatter(const Columns& columns, std::int64_t rows, int threads) {
  const std::int64_t cols = columns.count();
  const std::int64_t entries = std::accumulate(columns.ends.begin(), columns.ends.end(), std::int64_t{0}) -
                               std::accumulate(columns.starts.begin(), columns.starts.end(), std::int64_t{0});
  const Tiling tiling = row_tiles(rows, cols, entries);
  const std::vector<std::int64_t> cuts = cut_columns(columns, tiling, threads);
  Csr matrix{.rows = rows,
             .cols = cols,
             .offsets = std::vector<std::int64_t>(rows + 1),
             .indices = {},
             .values = {}};

  const auto for_each_entry = [&](std::int64_t tile, auto&& body) {
    for (std::int64_t c = 0; c < cols; ++c) {
      const std::int64_t end = cuts[(tile + 1) * cols + c];
      for (std::int64_t k = cuts[tile * cols + c]; k < end; ++k) body(c, k, columns.indices[k]);
    }
  };
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    for_each_entry(tile, [&](std::int64_t, std::int64_t, std::int32_t row) { ++matrix.offsets[row + 1]; });
  });
  std::partial_sum(matrix.offsets.begin(), matrix.offsets.end(), matrix.offsets.begin());
  resize_by_threads(matrix.indices, entries, threads);
  if (columns.values) resize_by_threads(matrix.values, entries, threads);
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    const std::int64_t first = tiling.first(tile);
    std::vector<std::int64_t> next(matrix.offsets.begin() + first,
                                   matrix.offsets.begin() + tiling.last(tile));
    for_each_entry(tile, [&](std::int64_t c, std::int64_t k, std::int32_t row) {
      const std::int64_t slot = next[row - first]++;
      matrix.indices[slot] = static_cast<std::int32_t>(c);
      if (columns.values) matrix.values[slot] = columns.values[k];
    });
  });
  return matrix;
}

}  // namespace

PackedMatrix pack_rows(CsrView matrix, const Execution& execution) {
  std::vector<std::int32_t> order(matrix.rows);
  std::iota(order.begin(), order.end(), 0);
  return pack_lists(matrix, order, execution);
}

PackedMatrix pack_columns(CsrView matrix, const Execution& execution) {
  return pack_lists(transpose(matrix).view(), descending_order(column_counts(matrix)), execution);
}

Csr unpack_rows(const PackedMatrixView& packed, std::int64_t rows, std::int64_t cols,
                const Execution& execution) {
  const ListLayout layout(unpack_numbers(packed.counts, rows, cols));
  const ListFrames frames(packed, layout);
  Csr matrix{.rows = rows, .cols = cols, .offsets = layout.starts, .indices = {}, .values = {}};
  resize_by_threads(matrix.indices, layout.entries(), execution.threads);
  if (packed.values) resize_by_threads(matrix.values, layout.entries(), execution.threads);
  unpack_lists(packed, layout, frames, cols, matrix.indices.data(), matrix.values.data(), execution);
  return matrix;
}

Csr unpack_columns(const PackedMatrixView& packed, std::int64_t rows, std::int64_t cols,
                   const Execution& execution) {
  const std::vector<std::int64_t> counts = unpack_numbers(packed.counts, cols, rows);
  const std::vector<std::int32_t> order = descending_order(counts);
  std::vector<std::int64_t> stored_counts(cols);
  for (std::int64_t k = 0; k < cols; ++k) stored_counts[k] = counts[order[k]];
  const ListLayout layout(stored_counts);
  const ListFrames frames(packed, layout);

  Columns columns;
  columns.indices = std::make_unique_for_overwrite<std::int32_t[]>(layout.entries());
  if (packed.values) columns.values = std::make_unique_for_overwrite<float[]>(layout.entries());
  unpack_lists(packed, layout, frames, rows, columns.indices.get(), columns.values.get(), execution);
  columns.starts.resize(cols);
  columns.ends.resize(cols);
  for (std::int64_t k = 0; k < cols; ++k) {
    columns.starts[order[k]] = layout.starts[k];
    columns.ends[order[k]] = layout.starts[k + 1];
  }
  return scatter(columns, rows, execution.threads);
}

}  // namespace poise
