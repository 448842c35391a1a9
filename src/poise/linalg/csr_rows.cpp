#include "poise/linalg/csr_rows.hpp"

namespace poise {

Csr copy_of(CsrView matrix) {
  Csr copy{.rows = matrix.rows, .cols = matrix.cols, .offsets = {0}, .indices = {}, .values = {}};
  if (matrix.rows == 0) return copy;
  const std::int64_t first = matrix.offsets.front();
  const auto indices = matrix.indices.subspan(first, matrix.entries());
  copy.indices.assign(indices.begin(), indices.end());
  if (!matrix.values.empty()) {
    const auto values = matrix.values.subspan(first, matrix.entries());
    copy.values.assign(values.begin(), values.end());
  }
  for (std::int64_t r = 0; r < matrix.rows; ++r) copy.offsets.push_back(matrix.offsets[r + 1] - first);
  return copy;
}

}  // namespace poise
