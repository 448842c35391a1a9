#pragma once

#include "poise/solver/grid_tiles.hpp"

namespace poise {

/// The same as invert_tiles(), by ScaLAPACK (BLACS numbers processes as MPI does). All processes call it.
bool invert_by_scalapack(GridTiles<float>& tiles);
bool invert_by_scalapack(GridTiles<double>& tiles);

}  // namespace poise
