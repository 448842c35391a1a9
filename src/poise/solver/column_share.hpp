#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/comm/processes.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// The columns of a problem divided among processes, in tiles that are dealt out in turn: tile I belongs to
/// process I mod P. Popular items, whose columns take longest, often have low numbers and so spread over all.
///
/// What joins parts is called by every process in the same order, and gives all of them the same numbers.
class ColumnShare {
 public:
  /// The tile follows from both numbers (column_tile).
  ColumnShare(std::int64_t items, Processes& processes);

  [[nodiscard]] Processes& processes() const { return processes_; }
  [[nodiscard]] std::int64_t items() const { return items_; }
  [[nodiscard]] std::int64_t tile() const { return tile_; }
  [[nodiscard]] int owner(std::int64_t item) const {
    return static_cast<int>(item / tile_ % processes_.size());
  }
  /// The columns of this process, ascending, and of any.
  [[nodiscard]] std::span<const std::int32_t> own() const { return own_; }
  [[nodiscard]] std::vector<std::int32_t> of(int rank) const;
  /// The place of a column among those of its owner.
  [[nodiscard]] std::int32_t place(std::int64_t item) const {
    return static_cast<std::int32_t>(item / tile_ / processes_.size() * tile_ + item % tile_);
  }
  [[nodiscard]] std::vector<std::int32_t> places(std::span<const std::int32_t> items) const;

  /// Adds up the numbers of all processes, in the order of ranks.
  void add_up(std::span<double> numbers) const;
  void add_up(std::span<float> numbers) const;
  /// One number for each item: everyone's own ones.
  void join(std::span<double> of_items) const;
  /// Row k of `own` belongs to own()[k]; the rows of all items.
  template <class T>
  [[nodiscard]] Matrix<T> join_rows(const Matrix<T>& own) const;
  /// The largest of all.
  [[nodiscard]] double largest(double number) const;

 private:
  std::int64_t items_;
  Processes& processes_;
  std::int64_t tile_;
  std::vector<std::int32_t> own_;
};

/// The edge of the tiles for so many items and processes: 128, smaller where each process would have fewer
/// than four tiles.
std::int64_t column_tile(std::int64_t items, int processes);

extern template Matrix<float> ColumnShare::join_rows(const Matrix<float>&) const;
extern template Matrix<double> ColumnShare::join_rows(const Matrix<double>&) const;

}  // namespace poise
