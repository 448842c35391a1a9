#include "poise/linalg/csr.hpp"

#include <algorithm>
#include <utility>

#include <xxhash.h>

#include "poise/base/first_touch.hpp"
#include "poise/base/parallel.hpp"

namespace poise {

namespace {

/// One block of rows per thread.
Tiling row_blocks(CsrView matrix, int threads) {
  const std::int64_t blocks = std::clamp<std::int64_t>(std::min<std::int64_t>(threads, matrix.rows), 1, 64);
  return {matrix.rows, std::max<std::int64_t>(1, (matrix.rows + blocks - 1) / blocks)};
}

/// For each block, the number of entries of each column.
std::vector<std::vector<std::int64_t>> counts_of_blocks(CsrView matrix, const Tiling& rows, int threads) {
  std::vector<std::vector<std::int64_t>> counts(rows.tiles());
  for_each_tile(rows.tiles(), threads, [&](std::int64_t block) {
    std::vector<std::int64_t> own(matrix.cols, 0);
    for (std::int64_t r = rows.first(block); r < rows.last(block); ++r) {
      for (const std::int32_t column : matrix.row(r)) ++own[column];
    }
    counts[block] = std::move(own);
  });
  return counts;
}

}  // namespace

std::vector<std::int64_t> column_counts(CsrView matrix, int threads) {
  std::vector<std::int64_t> counts(matrix.cols, 0);
  for (const auto& of_block : counts_of_blocks(matrix, row_blocks(matrix, threads), threads)) {
    for (std::int64_t column = 0; column < matrix.cols; ++column) counts[column] += of_block[column];
  }
  return counts;
}

Csr transpose(CsrView matrix, int threads) {
  // Each block of rows counts its columns; from the counts it knows where its entries go. That is the order
  // of the rows for any number of blocks.
  const Tiling rows = row_blocks(matrix, threads);
  std::vector<std::vector<std::int64_t>> next = counts_of_blocks(matrix, rows, threads);
  Csr result;
  result.rows = matrix.cols;
  result.cols = matrix.rows;
  result.offsets.assign(matrix.cols + 1, 0);
  std::int64_t place = 0;
  for (std::int64_t column = 0; column < matrix.cols; ++column) {
    for (std::vector<std::int64_t>& of_block : next) place += std::exchange(of_block[column], place);
    result.offsets[column + 1] = place;
  }
  resize_by_threads(result.indices, matrix.entries(), threads);
  if (!matrix.values.empty()) resize_by_threads(result.values, matrix.entries(), threads);
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

std::uint64_t support_fingerprint(CsrView matrix) {
  const std::int64_t shape[] = {matrix.rows, matrix.cols, matrix.entries()};
  std::uint64_t hash = XXH3_64bits(shape, sizeof shape);
  hash = XXH3_64bits_withSeed(matrix.offsets.data(), matrix.offsets.size_bytes(), hash);
  const auto first = matrix.rows == 0 ? 0 : matrix.offsets.front();
  const auto indices = matrix.indices.subspan(first, matrix.entries());
  return XXH3_64bits_withSeed(indices.data(), indices.size_bytes(), hash);
}

Csr copy_of(CsrView matrix) {
  Csr copy{.rows = matrix.rows, .cols = matrix.cols, .offsets = {0}};
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
