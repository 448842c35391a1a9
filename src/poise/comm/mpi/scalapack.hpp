#pragma once

#include <memory>

#include "poise/comm/dense_grid.hpp"

namespace poise {

/// All processes of the job as a grid of ScaLAPACK (BLACS numbers them as MPI does).
std::unique_ptr<DenseGrid> make_scalapack_grid(int processes, int rank);

}  // namespace poise
