#pragma once

#include <algorithm>
#include <cstdint>

namespace poise {

/// The processes of a job as a grid of rows x cols, and what a library (ScaLAPACK, in the plug-in) computes
/// there with a square matrix of size n in square tiles: tile (I, J) lies at the process in row I mod rows
/// and column J mod cols, whose number is row * cols + column. A process holds its tiles as one matrix by
/// columns.
class DenseGrid {
 public:
  DenseGrid(int rows, int cols, int rank) : rows_(rows), cols_(cols), rank_(rank) {}
  DenseGrid(const DenseGrid&) = delete;
  DenseGrid& operator=(const DenseGrid&) = delete;
  virtual ~DenseGrid() = default;

  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int cols() const { return cols_; }
  [[nodiscard]] int row() const { return rank_ / cols_; }
  [[nodiscard]] int col() const { return rank_ % cols_; }
  [[nodiscard]] int owner(std::int64_t tile_row, std::int64_t tile_col) const {
    return static_cast<int>(tile_row % rows_) * cols_ + static_cast<int>(tile_col % cols_);
  }

  /// A = L L': the lower triangle of the local parts of A becomes L. Returns 0, or k > 0 if the leading minor
  /// of order k is not positive, the same everywhere. Every process calls it, and waits there for the others.
  /// n^3 / 3 operations of all.
  virtual std::int64_t factor(std::int64_t n, std::int64_t tile, float* local) = 0;
  virtual std::int64_t factor(std::int64_t n, std::int64_t tile, double* local) = 0;
  /// The lower triangle of A^-1 from that of L, in place; results and waiting as above. 2 n^3 / 3 operations.
  virtual std::int64_t invert_factored(std::int64_t n, std::int64_t tile, float* local) = 0;
  virtual std::int64_t invert_factored(std::int64_t n, std::int64_t tile, double* local) = 0;

 private:
  int rows_;
  int cols_;
  int rank_;
};

/// How many of n numbers, dealt out in tiles to `parts` holders in turn, the holder `part` has.
inline std::int64_t dealt(std::int64_t n, std::int64_t tile, std::int64_t part, std::int64_t parts) {
  const std::int64_t whole = n / tile;  // tiles of full size
  std::int64_t count = whole / parts * tile;
  if (part < whole % parts) count += tile;
  if (part == whole % parts) count += n % tile;
  return count;
}

/// The rows of the grid for so many processes: the largest divisor up to the root, so that it is nearly
/// square.
inline int grid_rows(int processes) {
  int rows = 1;
  for (int r = 1; r * r <= processes; ++r) {
    if (processes % r == 0) rows = r;
  }
  return rows;
}

}  // namespace poise
