#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace poise {

/// A view of a sparse matrix in compressed rows: row r holds indices[offsets[r]] up to indices[offsets[r + 1]
/// - 1], ascending and distinct. Without values every stored entry is 1.
struct CsrView {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::span<const std::int64_t> offsets = {};
  std::span<const std::int32_t> indices = {};
  std::span<const float> values = {};

  [[nodiscard]] std::int64_t entries() const { return rows == 0 ? 0 : offsets.back() - offsets.front(); }
  [[nodiscard]] std::int64_t row_size(std::int64_t r) const { return offsets[r + 1] - offsets[r]; }
  [[nodiscard]] std::span<const std::int32_t> row(std::int64_t r) const {
    return indices.subspan(offsets[r], row_size(r));
  }
  /// Empty when the matrix has no values.
  [[nodiscard]] std::span<const float> row_values(std::int64_t r) const {
    return values.empty() ? values : values.subspan(offsets[r], row_size(r));
  }
  /// Rows [first, first + count).
  [[nodiscard]] CsrView block(std::int64_t first, std::int64_t count) const {
    return {count, cols, offsets.subspan(first, count + 1), indices, values};
  }
};

/// A sparse matrix in compressed rows; see CsrView.
struct Csr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> indices = {};
  std::vector<float> values = {};

  [[nodiscard]] std::int64_t entries() const { return static_cast<std::int64_t>(indices.size()); }
  [[nodiscard]] CsrView view() const { return {rows, cols, offsets, indices, values}; }
  bool operator==(const Csr&) const = default;
};

/// The transpose with its values; its rows are ascending. O(entries + rows + cols).
Csr transpose(CsrView matrix, int threads = 1);

/// XXH3 of shape, offsets and indices: distinguishes the supports of two matrices, wherever they lie in
/// memory. A tenth of a second for 10^9 bytes.
std::uint64_t support_fingerprint(CsrView matrix);

/// How many entries each column holds.
std::vector<std::int64_t> column_counts(CsrView matrix, int threads = 1);

/// The same entries, all 1.
inline CsrView support_of(CsrView matrix) {
  matrix.values = {};
  return matrix;
}

/// A copy, whose offsets begin at 0 also where `matrix` is a block of rows of another.
Csr copy_of(CsrView matrix);

}  // namespace poise
