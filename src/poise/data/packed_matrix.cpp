#include "poise/data/packed_matrix.hpp"

#include <algorithm>
#include <numeric>

#include "poise/base/first_touch.hpp"

namespace poise {
namespace {

std::uint8_t* put_gaps(std::uint8_t* out, std::span<const std::int32_t> list) {
  std::int32_t next = 0;
  for (const std::int32_t index : list) {
    out = put_varint(out, static_cast<std::uint32_t>(index - next));
    next = index + 1;
  }
  return out;
}

/// Reads as many ascending numbers below `limit` as `list` holds; returns nullptr if the bytes are malformed.
const std::uint8_t* get_gaps(const std::uint8_t* in, const std::uint8_t* end, std::int64_t limit,
                             std::span<std::int32_t> list) {
  std::int64_t next = 0;
  for (std::int32_t& index : list) {
    if (in == end) return nullptr;
    std::uint64_t gap = *in;
    if (gap < 0x80)
      ++in;
    else if (in = get_varint(in, end, gap); in == nullptr)
      return nullptr;
    next += static_cast<std::int64_t>(gap);
    if (next >= limit) return nullptr;
    index = static_cast<std::int32_t>(next++);
  }
  return in;
}

std::string concatenate(const std::vector<std::string>& parts) {
  std::string result;
  for (const std::string& part : parts) result += part;
  return result;
}

/// The lists of a packed matrix, in stored order: list k is [starts[k], starts[k + 1]).
struct ListLayout {
  struct Chunk {
    std::int64_t first;  ///< list
    std::int64_t last;
  };
  std::vector<std::int64_t> starts;
  std::vector<Chunk> chunks;

  /// From the lengths of the lists in stored order.
  explicit ListLayout(std::span<const std::int64_t> counts) : starts(counts.size() + 1) {
    std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
    std::int64_t first = 0;
    for (std::int64_t list = 0; list < lists(); ++list) {
      if (starts[list + 1] - starts[first] < PackedMatrix::chunk_entries && list + 1 < lists()) continue;
      chunks.push_back({first, list + 1});
      first = list + 1;
    }
  }
  [[nodiscard]] std::int64_t lists() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  [[nodiscard]] std::int64_t entries() const { return starts.back(); }
  [[nodiscard]] std::int64_t entries(const Chunk& chunk) const {
    return starts[chunk.last] - starts[chunk.first];
  }
};

/// The lists' positions in stored order of packed columns: by descending count, then by index.
std::vector<std::int32_t> descending_order(std::span<const std::int64_t> counts) {
  std::vector<std::int32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return counts[a] > counts[b]; });
  return order;
}

/// Packs row order[k] of `lists` as list k.
PackedMatrix pack_lists(CsrView lists, std::span<const std::int32_t> order, const Execution& execution) {
  std::vector<std::int64_t> counts(lists.rows);
  std::vector<std::int64_t> stored_counts(lists.rows);
  for (std::int64_t k = 0; k < lists.rows; ++k) {
    counts[k] = lists.row_size(k);
    stored_counts[k] = lists.row_size(order[k]);
  }
  const ListLayout layout(stored_counts);
  std::vector<std::string> gaps(layout.chunks.size());
  std::vector<std::string> values(lists.values.empty() ? 0 : layout.chunks.size());
  Progress progress(execution.observer, "packing", lists.entries(), "interactions");
  for_each_tile(static_cast<std::int64_t>(layout.chunks.size()), execution.threads, [&](std::int64_t tile) {
    const auto& chunk = layout.chunks[tile];
    progress.advance(layout.entries(chunk));
    const Block block = make_block(layout.entries(chunk) * max_varint_bytes);
    std::uint8_t* end = block.data.get();
    std::vector<float> chunk_values;
    for (std::int64_t k = chunk.first; k < chunk.last; ++k) {
      end = put_gaps(end, lists.row(order[k]));
      const auto row_values = lists.row_values(order[k]);
      chunk_values.insert(chunk_values.end(), row_values.begin(), row_values.end());
    }
    gaps[tile] = compress(std::as_bytes(std::span(block.data.get(), end)));
    if (!values.empty()) values[tile] = compress(std::as_bytes(std::span(chunk_values)));
  });
  return {.counts = pack_numbers(counts), .gaps = concatenate(gaps), .values = concatenate(values)};
}

/// The frames of a packed matrix's gaps and values. Their sizes were checked against the layout, so memory of
/// that size may be allocated.
struct ListFrames {
  std::vector<Frame> gaps;
  std::vector<Frame> values;  ///< none without values

  ListFrames(const PackedMatrixView& packed, const ListLayout& layout) {
    const auto count = static_cast<std::int64_t>(layout.chunks.size());
    gaps = split_frames(packed.gaps, count);
    if (packed.values) values = split_frames(*packed.values, count);
    for (std::int64_t k = 0; k < count; ++k) {
      const auto entries = static_cast<std::uint64_t>(layout.entries(layout.chunks[k]));
      if (gaps[k].content < entries || gaps[k].content > entries * max_varint_bytes)
        fail_damaged(packed.gaps.name, "a frame's size does not fit its entries");
      if (packed.values && values[k].content != entries * sizeof(float))
        fail_damaged(packed.values->name, "a frame's size does not fit its entries");
    }
  }
};

/// Unpacks all lists into `indices`, and the values, if any, into `values`; both have layout.entries()
/// elements. Every index is below `limit`.
void unpack_lists(const PackedMatrixView& packed, const ListLayout& layout, const ListFrames& frames,
                  std::int64_t limit, std::int32_t* indices, float* values, const Execution& execution) {
  Progress progress(execution.observer, "loading", layout.entries(), "interactions");
  for_each_tile(static_cast<std::int64_t>(layout.chunks.size()), execution.threads, [&](std::int64_t tile) {
    const auto& chunk = layout.chunks[tile];
    const Block block = decompress(frames.gaps[tile], packed.gaps.name);
    const std::uint8_t* in = block.data.get();
    const std::uint8_t* const end = in + block.size;
    for (std::int64_t k = chunk.first; k < chunk.last; ++k) {
      in = get_gaps(in, end, limit, {indices + layout.starts[k], indices + layout.starts[k + 1]});
      if (in == nullptr) fail_damaged(packed.gaps.name, "a list does not fit its length or its range");
    }
    if (in != end) fail_damaged(packed.gaps.name, "a frame has bytes left over");
    if (!frames.values.empty()) {
      const std::span out(values + layout.starts[chunk.first], layout.entries(chunk));
      decompress(frames.values[tile], std::as_writable_bytes(out), packed.values->name);
    }
    progress.advance(layout.entries(chunk));
  });
}

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
  for_each_row({columns.count(), 256}, threads, [&](std::int64_t c) {
    const std::int32_t* at = columns.indices.get() + columns.starts[c];
    const std::int32_t* const end = columns.indices.get() + columns.ends[c];
    for (std::int64_t tile = 0; tile <= tiling.tiles(); ++tile) {
      at = std::lower_bound(at, end, tiling.first(tile));
      cuts[tile * columns.count() + c] = at - columns.indices.get();
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
  Csr matrix{.rows = rows, .cols = cols, .offsets = std::vector<std::int64_t>(rows + 1)};

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
  Csr matrix{.rows = rows, .cols = cols, .offsets = layout.starts};
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
