#pragma once

#include <cstdint>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/comm/process_grid.hpp"
#include "poise/linalg/large_pages.hpp"
#include "poise/solver/column_share.hpp"

namespace poise {

/// The tiles of a square matrix that this process holds (comm/process_grid.hpp), by columns. Of a symmetric
/// matrix the tiles on and below the diagonal count.
template <class T>
class GridTiles {
 public:
  /// Zeros. The tile is a multiple of the share's; by default one with which processes have about equal work.
  explicit GridTiles(const ColumnShare& share);
  GridTiles(const ColumnShare& share, std::int64_t tile);

  [[nodiscard]] const ProcessGrid& grid() const { return grid_; }
  [[nodiscard]] std::int64_t size() const { return n_; }
  [[nodiscard]] std::int64_t tile() const { return tile_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t cols() const { return cols_; }
  /// The row, or column, of the whole matrix that local row r, or column c, is.
  [[nodiscard]] std::int64_t row(std::int64_t r) const {
    return (r / tile_ * grid_.rows() + grid_.row()) * tile_ + r % tile_;
  }
  [[nodiscard]] std::int64_t col(std::int64_t c) const {
    return (c / tile_ * grid_.cols() + grid_.col()) * tile_ + c % tile_;
  }
  [[nodiscard]] T* column(std::int64_t c) { return data_.data() + c * rows_; }
  /// Entry (row, column) of the whole matrix, which this process holds.
  [[nodiscard]] T* entry(std::int64_t row, std::int64_t col) {
    return at(row / tile_, col / tile_) + col % tile_ * rows_ + row % tile_;
  }
  /// The upper left entry of tile (I, J) of the whole matrix, which this process holds.
  [[nodiscard]] T* at(std::int64_t tile_row, std::int64_t tile_col) {
    return column(tile_col / grid_.cols() * tile_) + tile_row / grid_.rows() * tile_;
  }

 private:
  ProcessGrid grid_;
  std::int64_t n_;
  std::int64_t tile_;
  std::int64_t rows_;
  std::int64_t cols_;
  std::vector<T, LargePages<T>> data_;
};

/// The rows of the symmetric matrix at the owners of columns: row k is row share.own()[k]. Every process
/// sends and receives n^2 / P numbers, a tile of columns of the share at a time.
template <class T>
Resident<T> rows_of_tiles(GridTiles<T>& tiles, const ColumnShare& share, Backend& backend);

extern template class GridTiles<float>;
extern template class GridTiles<double>;
extern template Resident<float> rows_of_tiles(GridTiles<float>&, const ColumnShare&, Backend&);
extern template Resident<double> rows_of_tiles(GridTiles<double>&, const ColumnShare&, Backend&);

}  // namespace poise
