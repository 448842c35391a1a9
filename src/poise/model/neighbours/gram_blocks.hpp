#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/linalg/large_pages.hpp"
#include "poise/model/neighbours/problem.hpp"

namespace poise {

/// G restricted to the support of each column of a block, and to the column's own item behind it:
///
///     rows q = 0 ... k of the upper triangle: entries p >= q are G between members q and p of (S_j, j),
///
/// so a row ends with G_jq, and the last is G_jj alone. One pass over the items that occur: the row of G of
/// item i is made once and read by every column that has i among its members, k^2 / 2 reads a column from an
/// array that caches hold. (k + 1)(k + 2) / 2 numbers a column.
template <class T>
class GramBlocks {
 public:
  /// Numbers that a column takes.
  static constexpr std::int64_t size(std::int64_t k) { return (k + 1) * (k + 2) / 2; }

  /// Columns [first, first + count) with these supports, count x k.
  void make(const NeighbourProblem& problem, std::int64_t first, std::int64_t count, std::int64_t k,
            std::span<const std::int32_t> supports, const Execution& execution);

  /// The triangle of the c-th column of the block, row after row.
  [[nodiscard]] std::span<const T> column(std::int64_t c) const {
    return std::span<const T>(triangles_).subspan(c * size_, size_);
  }

 private:
  std::int64_t size_ = 0;
  std::vector<T, LargePages<T>> triangles_;
};

}  // namespace poise
