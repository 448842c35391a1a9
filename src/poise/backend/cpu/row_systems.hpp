#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/row_systems.hpp"
#include "poise/base/parallel.hpp"

namespace poise {

/// Rows are solved one after the other, each on its own copy of the factors it has entries for, as long as
/// that copy fits into a cache; longer rows together, block by block of the factors. The sizes decide the
/// speed and change no byte of a result.
struct RowCache {
  std::int64_t kept_floats = std::int64_t{1} << 21;
  std::int64_t block_floats = std::int64_t{1} << 18;
};

/// The rows at which the tiles of a solve begin, and the end of the last one; of the entries alone.
std::vector<std::int64_t> row_tiles(CsrView entries);

/// Some of these tiles: [first, last).
struct TileRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// The outcome of each long row of some tiles, and that of the other rows of each tile. Sums take all long
/// rows first, then the tiles, both in their order.
struct RowOutcomes {
  std::vector<RowsSolved> long_rows;
  std::vector<RowsSolved> tiles;

  [[nodiscard]] RowsSolved total() const;
};

/// Backend::solve_rows of the host, for the rows of some tiles: each row takes the route that counts fewer
/// operations, conjugate gradients on its gathered factors, 4 |row| d a step, or a d x d Cholesky
/// factorization, |row| d^2 + d^3 / 3. The same bytes for any thread count and any range of tiles.
RowOutcomes solve_tiles(const RowSystems& systems, std::span<const std::int64_t> starts, TileRange tiles,
                        MatrixView<float> y, RowTolerance tolerance, const Execution& execution,
                        RowRoute route = RowRoute::counted, RowCache cache = {});
/// All rows.
RowsSolved solve_rows(const RowSystems& systems, MatrixView<float> y, RowTolerance tolerance,
                      const Execution& execution, RowRoute route = RowRoute::counted, RowCache cache = {});

/// Backend::check_rows of the host, tile by tile.
std::vector<RowsChecked> check_tiles(const RowSystems& systems, std::span<const std::int64_t> starts,
                                     TileRange tiles, MatrixView<const float> v, MatrixView<const double> E,
                                     MatrixView<const double> E_inverse, const Execution& execution);
/// The sum over all tiles.
RowsChecked total_of(std::span<const RowsChecked> tiles, const RowSystems& systems);
RowsChecked check_rows(const RowSystems& systems, MatrixView<const float> v, MatrixView<const double> E,
                       MatrixView<const double> E_inverse, const Execution& execution);

}  // namespace poise
