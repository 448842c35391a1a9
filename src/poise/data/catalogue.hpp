#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/data/histories.hpp"
#include "poise/data/ids.hpp"
#include "poise/linalg/csr.hpp"

namespace poise {

/// The item number of each item of a log among the training items, and those items' ids.
struct Catalogue {
  static constexpr std::int32_t outside = -1;

  std::vector<std::int32_t> number;  ///< per item of the log; `outside` if no training user has it
  Ids ids;
};

/// One entry of a row while it is built: the item's number, and its slot in the histories.
struct RowEntry {
  std::int32_t item;
  std::int64_t slot;
};

/// Calls add(RowEntry) for the catalogue items of a user, in file order.
template <class Add>
void for_each_entry(const Histories& histories, const Catalogue& catalogue, std::int64_t user,
                    const Add& add) {
  for (std::int64_t slot = histories.first[user]; slot < histories.last[user]; ++slot) {
    const std::int32_t number = catalogue.number[histories.item[slot]];
    if (number != Catalogue::outside) add(RowEntry{number, slot});
  }
}

/// A matrix whose row k holds the entries that entries(k, add) adds, sorted by item. `entries` is called
/// twice for each row, from several threads.
template <class Entries>
Csr build_rows(std::int64_t rows, const Catalogue& catalogue, const std::vector<float>& values,
               const Entries& entries, const Execution& execution) {
  Csr matrix;
  matrix.rows = rows;
  matrix.cols = catalogue.ids.size();
  matrix.offsets.assign(rows + 1, 0);
  const Tiling tiling{rows, 1024};
  for_each_row(tiling, execution.threads,
               [&](std::int64_t k) { entries(k, [&](RowEntry) { ++matrix.offsets[k + 1]; }); });
  std::partial_sum(matrix.offsets.begin(), matrix.offsets.end(), matrix.offsets.begin());
  matrix.indices.resize(matrix.offsets.back());
  if (!values.empty()) matrix.values.resize(matrix.offsets.back());
  Progress progress(execution.observer, "splitting", rows, "users");
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    progress.advance(tiling.last(tile) - tiling.first(tile));
    std::vector<RowEntry> row;
    for (std::int64_t k = tiling.first(tile); k < tiling.last(tile); ++k) {
      row.clear();
      entries(k, [&](RowEntry entry) { row.push_back(entry); });
      std::sort(row.begin(), row.end(), [](RowEntry a, RowEntry b) { return a.item < b.item; });
      std::int64_t position = matrix.offsets[k];
      for (const RowEntry entry : row) {
        matrix.indices[position] = entry.item;
        if (!values.empty()) matrix.values[position] = values[entry.slot];
        ++position;
      }
    }
  });
  return matrix;
}

}  // namespace poise
