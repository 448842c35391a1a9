#include "poise/data/packed_lists.hpp"

#include <algorithm>
#include <numeric>

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

}  // namespace

ListLayout::ListLayout(std::span<const std::int64_t> counts) : starts(counts.size() + 1) {
  std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
  std::int64_t first = 0;
  for (std::int64_t list = 0; list < lists(); ++list) {
    if (starts[list + 1] - starts[first] < PackedMatrix::chunk_entries && list + 1 < lists()) continue;
    chunks.push_back({first, list + 1});
    first = list + 1;
  }
}

std::vector<std::int32_t> descending_order(std::span<const std::int64_t> counts) {
  std::vector<std::int32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return counts[a] > counts[b]; });
  return order;
}

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

ListFrames::ListFrames(const PackedMatrixView& packed, const ListLayout& layout) {
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

}  // namespace poise
