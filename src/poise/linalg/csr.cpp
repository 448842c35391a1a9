#include "poise/linalg/csr.hpp"

namespace poise {

std::vector<std::int64_t> column_counts(CsrView matrix) {
  std::vector<std::int64_t> counts(matrix.cols, 0);
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    for (const std::int32_t column : matrix.row(r)) ++counts[column];
  }
  return counts;
}

Csr transpose(CsrView matrix) {
  Csr result;
  result.rows = matrix.cols;
  result.cols = matrix.rows;
  const std::vector<std::int64_t> counts = column_counts(matrix);
  result.offsets.resize(counts.size() + 1);
  for (std::size_t c = 0; c < counts.size(); ++c) result.offsets[c + 1] = result.offsets[c] + counts[c];
  result.indices.resize(matrix.entries());
  if (!matrix.values.empty()) result.values.resize(matrix.entries());
  std::vector<std::int64_t> next(result.offsets.begin(), result.offsets.end() - 1);
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    const auto columns = matrix.row(r);
    const auto values = matrix.row_values(r);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::int64_t slot = next[columns[k]]++;
      result.indices[slot] = static_cast<std::int32_t>(r);
      if (!values.empty()) result.values[slot] = values[k];
    }
  }
  return result;
}

}  // namespace poise
