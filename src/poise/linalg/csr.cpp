#include "poise/linalg/csr.hpp"

#include <algorithm>

#include "poise/base/parallel.hpp"

namespace poise {

std::vector<std::int64_t> column_counts(CsrView matrix) {
  std::vector<std::int64_t> counts(matrix.cols, 0);
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    for (const std::int32_t column : matrix.row(r)) ++counts[column];
  }
  return counts;
}

Csr transpose(CsrView matrix, int threads) {
  Csr result;
  result.rows = matrix.cols;
  result.cols = matrix.rows;
  const std::vector<std::int64_t> counts = column_counts(matrix);
  result.offsets.resize(counts.size() + 1);
  for (std::size_t c = 0; c < counts.size(); ++c) result.offsets[c + 1] = result.offsets[c] + counts[c];
  result.indices.resize(matrix.entries());
  if (!matrix.values.empty()) result.values.resize(matrix.entries());
  // Each part of the columns scans all entries for its own: a few scans cost less than scattered writes that
  // several cores share, and the order never depends on the threads.
  const std::int64_t parts = std::clamp(threads, 1, 16);
  for_each_tile(parts, threads, [&](std::int64_t part) {
    const auto bound = [&](std::int64_t share) {
      if (share == parts) return matrix.cols;
      const auto at = std::ranges::lower_bound(result.offsets, matrix.entries() * share / parts);
      return std::min<std::int64_t>(at - result.offsets.begin(), matrix.cols);
    };
    const std::int64_t first = bound(part);
    const std::int64_t last = bound(part + 1);
    if (first >= last) return;
    std::vector<std::int64_t> next(result.offsets.begin() + first, result.offsets.begin() + last);
    for (std::int64_t r = 0; r < matrix.rows; ++r) {
      const auto columns = matrix.row(r);
      const auto values = matrix.row_values(r);
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const std::int64_t column = columns[k];
        if (column < first || column >= last) continue;
        const std::int64_t slot = next[column - first]++;
        result.indices[slot] = static_cast<std::int32_t>(r);
        if (!values.empty()) result.values[slot] = values[k];
      }
    }
  });
  return result;
}

}  // namespace poise
