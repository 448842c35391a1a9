#pragma once

#include <cstdint>
#include <vector>

namespace poise {

/// The processes of a job as a grid of rows x cols, as square as their number allows, over a square matrix in
/// square tiles: tile (I, J) lies at the process in row I mod rows and column J mod cols, whose number is
/// row * cols + column.
class ProcessGrid {
 public:
  ProcessGrid(int processes, int rank) : rank_(rank) {
    for (int r = 1; r * r <= processes; ++r) {
      if (processes % r == 0) rows_ = r;
    }
    cols_ = processes / rows_;
  }

  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int cols() const { return cols_; }
  [[nodiscard]] int row() const { return rank_ / cols_; }
  [[nodiscard]] int col() const { return rank_ % cols_; }
  [[nodiscard]] int owner(std::int64_t tile_row, std::int64_t tile_col) const {
    return static_cast<int>(tile_row % rows_) * cols_ + static_cast<int>(tile_col % cols_);
  }
  /// The processes of this one's row of the grid, or of its column; the one at `first` comes first.
  [[nodiscard]] std::vector<int> row_from(int first) const {
    std::vector<int> ranks(cols_);
    for (int k = 0; k < cols_; ++k) ranks[k] = row() * cols_ + (first + k) % cols_;
    return ranks;
  }
  [[nodiscard]] std::vector<int> col_from(int first) const {
    std::vector<int> ranks(rows_);
    for (int k = 0; k < rows_; ++k) ranks[k] = (first + k) % rows_ * cols_ + col();
    return ranks;
  }

 private:
  int rank_;
  int rows_ = 1;
  int cols_ = 1;
};

/// How many of n numbers, dealt out in tiles to `parts` holders in turn, the holder `part` has.
inline std::int64_t dealt(std::int64_t n, std::int64_t tile, std::int64_t part, std::int64_t parts) {
  const std::int64_t whole = n / tile;  // tiles of full size
  std::int64_t count = whole / parts * tile;
  if (part < whole % parts) count += tile;
  if (part == whole % parts) count += n % tile;
  return count;
}

}  // namespace poise
