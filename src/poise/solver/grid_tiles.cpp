#include "poise/solver/grid_tiles.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "poise/base/error.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/serial_blas.hpp"

namespace poise {

namespace {

/// Moves the tiles below the diagonal to the owners of their rows and, transposed, of their columns.
template <class T>
class TilesToRows {
 public:
  TilesToRows(GridTiles<T>& tiles, const DenseGrid& grid, const ColumnShare& share, MatrixView<T> to)
      : tiles_(tiles),
        grid_(grid),
        share_(share),
        processes_(share.processes()),
        to_(to),
        blocks_{tiles.size(), tiles.tile()} {}

  void run() {
    for (std::int64_t J = 0; J < blocks_.tiles(); ++J) {
      const bool holds = J % grid_.cols() == grid_.col();
      for (int to = 0; holds && to < processes_.size(); ++to) {
        std::string bytes = packed_for(to, J);
        if (to == processes_.rank()) {
          unpack(bytes, processes_.rank(), J);
        } else if (!bytes.empty()) {
          processes_.send(to, std::move(bytes));
        }
      }
      for (int row = 0; row < grid_.rows(); ++row) {
        const int from = grid_.owner(row, J);
        if (from != processes_.rank() && !rows_for(processes_.rank(), from, J).empty())
          unpack(processes_.receive(from).bytes, from, J);
      }
      processes_.flush();
    }
  }

 private:
  [[nodiscard]] int owner_of(std::int64_t block) const { return share_.owner(blocks_.first(block)); }
  [[nodiscard]] std::int64_t width(std::int64_t block) const {
    return blocks_.last(block) - blocks_.first(block);
  }

  /// The tile rows I >= J that process `holder` has of column J and `to` needs.
  [[nodiscard]] std::vector<std::int64_t> rows_for(int to, int holder, std::int64_t J) const {
    std::vector<std::int64_t> rows;
    for (std::int64_t I = J; I < blocks_.tiles(); ++I) {
      if (grid_.owner(I, J) == holder && (owner_of(I) == to || owner_of(J) == to)) rows.push_back(I);
    }
    return rows;
  }

  [[nodiscard]] std::string packed_for(int to, std::int64_t J) {
    std::string bytes;
    for (const std::int64_t I : rows_for(to, processes_.rank(), J)) {
      for (std::int64_t c = 0; c < width(J); ++c) {
        const T* const column = tiles_.at(I, J) + c * tiles_.rows();
        bytes.append(reinterpret_cast<const char*>(column), sizeof(T) * width(I));
      }
    }
    return bytes;
  }

  void unpack(const std::string& bytes, int from, std::int64_t J) {
    const T* tile = reinterpret_cast<const T*>(bytes.data());
    const int rank = processes_.rank();
    for (const std::int64_t I : rows_for(rank, from, J)) {
      const std::int64_t height = width(I);
      const auto lower = [&](std::int64_t r, std::int64_t c) { return tile[c * height + r]; };
      if (owner_of(I) == rank) {
        T* const to = &to_(share_.place(blocks_.first(I)), blocks_.first(J));
        for (std::int64_t r = 0; r < height; ++r) {
          for (std::int64_t c = 0; c < width(J); ++c)
            to[r * to_.stride + c] = I > J || r >= c ? lower(r, c) : lower(c, r);
        }
      }
      if (I > J && owner_of(J) == rank) {
        T* const to = &to_(share_.place(blocks_.first(J)), blocks_.first(I));
        for (std::int64_t c = 0; c < width(J); ++c)
          std::copy_n(&tile[c * height], height, to + c * to_.stride);
      }
      tile += width(I) * width(J);
    }
  }

  GridTiles<T>& tiles_;
  const DenseGrid& grid_;
  const ColumnShare& share_;
  Processes& processes_;
  MatrixView<T> to_;
  Tiling blocks_;
};

/// The most numbers of any process.
std::int64_t largest_part(std::int64_t n, int processes) {
  const int rows = grid_rows(processes);
  const std::int64_t tile = column_tile(n, processes);
  return dealt(n, tile, 0, rows) * dealt(n, tile, 0, processes / rows);
}

}  // namespace

template <class T>
GridTiles<T>::GridTiles(const DenseGrid& grid, std::int64_t n, std::int64_t tile)
    : grid_(grid),
      n_(n),
      tile_(tile),
      rows_(dealt(n, tile, grid.row(), grid.rows())),
      cols_(dealt(n, tile, grid.col(), grid.cols())),
      data_(rows_ * cols_) {}

void check_grid_size(std::int64_t n, int processes) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (largest_part(n, processes) <= most) return;
  int enough = processes;
  while (largest_part(n, enough) > most) ++enough;
  fail(ErrorKind::resources,
       "a full-rank model of {} items is too large for {} processes: ScaLAPACK's 32-bit indices reach {} "
       "numbers of "
       "each; {} processes would do",
       n, processes, most, enough);
}

template <class T>
bool invert_tiles(GridTiles<T>& tiles, DenseGrid& grid, Observer* observer) {
  const SerialBlas serial;  // OpenBLAS' results depend on the number of its threads
  Progress progress(observer, "inverting", 2, "steps");
  if (grid.factor(tiles.size(), tiles.tile(), tiles.column(0)) != 0) return false;
  progress.advance(1);
  stop_if_asked(observer);
  const bool inverted = grid.invert_factored(tiles.size(), tiles.tile(), tiles.column(0)) == 0;
  progress.advance(1);
  return inverted;
}

template <class T>
Resident<T> rows_of_tiles(GridTiles<T>& tiles, const DenseGrid& grid, const ColumnShare& share,
                          Backend& backend) {
  Matrix<T> rows(std::ssize(share.own()), tiles.size());
  TilesToRows<T>(tiles, grid, share, rows.view()).run();
  return Resident<T>(backend, std::move(rows));
}

template class GridTiles<float>;
template class GridTiles<double>;
template bool invert_tiles(GridTiles<float>&, DenseGrid&, Observer*);
template bool invert_tiles(GridTiles<double>&, DenseGrid&, Observer*);
template Resident<float> rows_of_tiles(GridTiles<float>&, const DenseGrid&, const ColumnShare&, Backend&);
template Resident<double> rows_of_tiles(GridTiles<double>&, const DenseGrid&, const ColumnShare&, Backend&);

}  // namespace poise
