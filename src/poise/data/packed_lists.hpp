#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "poise/data/packed_matrix.hpp"

namespace poise {

/// The lists of a packed matrix, in stored order: list k is [starts[k], starts[k + 1]).
struct ListLayout {
  struct Chunk {
    std::int64_t first;  ///< list
    std::int64_t last;
  };
  std::vector<std::int64_t> starts;
  std::vector<Chunk> chunks;

  /// From the lengths of the lists in stored order.
  explicit ListLayout(std::span<const std::int64_t> counts);
  [[nodiscard]] std::int64_t lists() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  [[nodiscard]] std::int64_t entries() const { return starts.back(); }
  [[nodiscard]] std::int64_t entries(const Chunk& chunk) const {
    return starts[chunk.last] - starts[chunk.first];
  }
};

/// The lists' positions in stored order of packed columns: by descending count, then by index.
std::vector<std::int32_t> descending_order(std::span<const std::int64_t> counts);

/// Packs row order[k] of `lists` as list k.
PackedMatrix pack_lists(CsrView lists, std::span<const std::int32_t> order, const Execution& execution);

/// The frames of a packed matrix's gaps and values. Their sizes were checked against the layout, so memory of
/// that size may be allocated.
struct ListFrames {
  std::vector<Frame> gaps;
  std::vector<Frame> values;  ///< none without values

  ListFrames(const PackedMatrixView& packed, const ListLayout& layout);
};

/// Unpacks all lists into `indices`, and the values, if any, into `values`; both have layout.entries()
/// elements. Every index is below `limit`.
void unpack_lists(const PackedMatrixView& packed, const ListLayout& layout, const ListFrames& frames,
                  std::int64_t limit, std::int32_t* indices, float* values, const Execution& execution);

}  // namespace poise
