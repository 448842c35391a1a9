#include "poise/solver/grid_tiles.hpp"

#include <algorithm>
#include <string>

#include "poise/base/parallel.hpp"

namespace poise {

namespace {

/// Moves the tiles below the diagonal to the owners of their rows and, transposed, of their columns.
template <class T>
class TilesToRows {
 public:
  TilesToRows(GridTiles<T>& tiles, const ColumnShare& share, MatrixView<T> to)
      : tiles_(tiles),
        grid_(tiles.grid()),
        share_(share),
        processes_(share.processes()),
        to_(to),
        blocks_{tiles.size(), share.tile()},
        of_tile_(tiles.tile() / share.tile()) {}

  void run() {
    for (std::int64_t J = 0; J < blocks_.tiles(); ++J) {
      const bool holds = J / of_tile_ % grid_.cols() == grid_.col();
      for (int to = 0; holds && to < processes_.size(); ++to) {
        std::string bytes = packed_for(to, J);
        if (to == processes_.rank()) {
          unpack(bytes, processes_.rank(), J);
        } else if (!bytes.empty()) {
          processes_.send(to, std::move(bytes));
        }
      }
      for (int row = 0; row < grid_.rows(); ++row) {
        const int from = holder(row * of_tile_, J);
        if (from != processes_.rank() && !rows_for(processes_.rank(), from, J).empty())
          unpack(processes_.receive(from).bytes, from, J);
      }
      processes_.flush();
    }
  }

 private:
  /// Who has a block of the matrix; owner_of: to whom its rows, or columns, go.
  [[nodiscard]] int holder(std::int64_t I, std::int64_t J) const {
    return grid_.owner(I / of_tile_, J / of_tile_);
  }
  [[nodiscard]] int owner_of(std::int64_t block) const { return share_.owner(blocks_.first(block)); }
  [[nodiscard]] std::int64_t width(std::int64_t block) const {
    return blocks_.last(block) - blocks_.first(block);
  }

  /// The block rows I >= J that process `from` has of column J and `to` needs.
  [[nodiscard]] std::vector<std::int64_t> rows_for(int to, int from, std::int64_t J) const {
    std::vector<std::int64_t> rows;
    for (std::int64_t I = J; I < blocks_.tiles(); ++I) {
      if (holder(I, J) == from && (owner_of(I) == to || owner_of(J) == to)) rows.push_back(I);
    }
    return rows;
  }

  [[nodiscard]] std::string packed_for(int to, std::int64_t J) {
    std::string bytes;
    for (const std::int64_t I : rows_for(to, processes_.rank(), J)) {
      for (std::int64_t c = 0; c < width(J); ++c) {
        const T* const column = tiles_.entry(blocks_.first(I), blocks_.first(J) + c);
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
  const ProcessGrid& grid_;
  const ColumnShare& share_;
  Processes& processes_;
  MatrixView<T> to_;
  Tiling blocks_;         ///< of the share
  std::int64_t of_tile_;  ///< how many of them a tile of the grid has, along each side
};

/// The edge of the grid's tiles: up to 512, as products with as many are fastest, but at least 10 tiles for
/// each process along a side, so that all have about the same work.
std::int64_t grid_tile(const ColumnShare& share) {
  constexpr std::int64_t largest = 512;
  constexpr std::int64_t tiles_each = 10;
  const ProcessGrid grid(share.processes().size(), share.processes().rank());
  const std::int64_t fair = share.items() / (tiles_each * grid.cols());
  return std::max<std::int64_t>(1, std::min(fair, largest) / share.tile()) * share.tile();
}

}  // namespace

template <class T>
GridTiles<T>::GridTiles(const ColumnShare& share) : GridTiles(share, grid_tile(share)) {}

template <class T>
GridTiles<T>::GridTiles(const ColumnShare& share, std::int64_t tile)
    : grid_(share.processes().size(), share.processes().rank()),
      n_(share.items()),
      tile_(tile),
      rows_(dealt(n_, tile_, grid_.row(), grid_.rows())),
      cols_(dealt(n_, tile_, grid_.col(), grid_.cols())),
      data_(rows_ * cols_) {}

template <class T>
Resident<T> rows_of_tiles(GridTiles<T>& tiles, const ColumnShare& share, Backend& backend) {
  Matrix<T> rows(std::ssize(share.own()), tiles.size());
  TilesToRows<T>(tiles, share, rows.view()).run();
  return Resident<T>(backend, std::move(rows));
}

template class GridTiles<float>;
template class GridTiles<double>;
template Resident<float> rows_of_tiles(GridTiles<float>&, const ColumnShare&, Backend&);
template Resident<double> rows_of_tiles(GridTiles<double>&, const ColumnShare&, Backend&);

}  // namespace poise
