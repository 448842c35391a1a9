#pragma once

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/comm/processes.hpp"
#include "poise/solver/grid_tiles.hpp"

namespace poise {

/// A <- A^-1 for a symmetric positive definite A in the tiles of all processes, which call it together;
/// false, at all of them, if it is not. The sweep of linalg/sweep_panel.hpp, a block for each tile of the
/// grid: the panel of a block travels along the rows and columns of the grid, and each process then updates
/// its own tiles. n^3 operations of all; a process sends and receives some 2 n^2 / sqrt(P) numbers, and holds
/// panels of as many numbers as its tiles have in two or three rows and columns of tiles. The same bits for
/// the same grid, whatever the threads.
///
/// With a backend that has memory of its own (all processes have one, or none) the tiles lie there and are
/// updated there, n^3 / P operations of each; the panels, n^2 / P numbers in all, are formed by the
/// processor.
template <class T>
bool invert_tiles(GridTiles<T>& tiles, Processes& processes, const Execution& execution,
                  Backend* backend = nullptr);

extern template bool invert_tiles(GridTiles<float>&, Processes&, const Execution&, Backend*);
extern template bool invert_tiles(GridTiles<double>&, Processes&, const Execution&, Backend*);

}  // namespace poise
