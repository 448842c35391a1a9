#include "poise/linalg/csr.hpp"

#include <algorithm>
#include <utility>

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
  // Blocks of rows count their columns, then each knows where its entries go: in the order of the rows,
  // however many blocks there are.
  const std::int64_t blocks = std::clamp<std::int64_t>(std::min<std::int64_t>(threads, matrix.rows), 1, 64);
  const Tiling rows{matrix.rows, std::max<std::int64_t>(1, (matrix.rows + blocks - 1) / blocks)};
  std::vector<std::vector<std::int64_t>> next(rows.tiles(), std::vector<std::int64_t>(matrix.cols, 0));
  for_each_tile(rows.tiles(), threads, [&](std::int64_t block) {
    for (std::int64_t r = rows.first(block); r < rows.last(block); ++r) {
      for (const std::int32_t column : matrix.row(r)) ++next[block][column];
    }
  });
  Csr result;
  result.rows = matrix.cols;
  result.cols = matrix.rows;
  result.offsets.assign(matrix.cols + 1, 0);
  std::int64_t place = 0;
  for (std::int64_t column = 0; column < matrix.cols; ++column) {
    for (std::vector<std::int64_t>& of_block : next) place += std::exchange(of_block[column], place);
    result.offsets[column + 1] = place;
  }
  result.indices.resize(matrix.entries());
  if (!matrix.values.empty()) result.values.resize(matrix.entries());
  for_each_tile(rows.tiles(), threads, [&](std::int64_t block) {
    for (std::int64_t r = rows.first(block); r < rows.last(block); ++r) {
      const auto columns = matrix.row(r);
      const auto values = matrix.row_values(r);
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const std::int64_t slot = next[block][columns[k]]++;
        result.indices[slot] = static_cast<std::int32_t>(r);
        if (!values.empty()) result.values[slot] = values[k];
      }
    }
  });
  return result;
}

}  // namespace poise
