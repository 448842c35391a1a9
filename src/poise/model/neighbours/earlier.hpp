#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/linalg/csr.hpp"

namespace poise {

/// An earlier model whose columns hold where nothing changed that they are made of: H_SS and c_S of column j
/// are sums over users of products of entries of X on S and j and of weights in column j, so a column none of
/// whose items is touched has the same system, and the same bits.
struct EarlierColumns {
  CsrView columns;            ///< B', one column a row, over the first items
  std::vector<char> touched;  ///< of each item: whether an entry of X, or its weight, has changed
  double tolerance = 1e-6;    ///< columns that are not proven to be within it are solved again

  /// The entries of column j on this support, if that column still holds.
  [[nodiscard]] bool take(std::int64_t j, std::span<const std::int32_t> support,
                          std::span<float> values) const {
    if (j >= columns.rows || touched[j] != 0) return false;
    const auto items = columns.row(j);
    if (items.size() != support.size()) return false;
    for (std::size_t p = 0; p < support.size(); ++p) {
      if (touched[support[p]] != 0) return false;
      const auto at = std::ranges::lower_bound(items, support[p]);
      if (at == items.end() || *at != support[p]) return false;
      values[p] = columns.row_values(j)[at - items.begin()];
    }
    return true;
  }
};

}  // namespace poise
