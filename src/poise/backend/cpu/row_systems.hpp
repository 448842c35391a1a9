#pragma once

#include <cstdint>

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

/// Backend::solve_rows of the host: each row takes the route that counts fewer operations, conjugate
/// gradients on its gathered factors, 4 |row| d a step, or a d x d Cholesky factorization, |row| d^2 + d^3 /
/// 3. The same bytes for any thread count.
RowsSolved solve_rows(const RowSystems& systems, MatrixView<float> y, RowTolerance tolerance,
                      const Execution& execution, RowRoute route = RowRoute::counted, RowCache cache = {});

/// Backend::check_rows of the host.
RowsChecked check_rows(const RowSystems& systems, MatrixView<const float> v, MatrixView<const double> E,
                       MatrixView<const double> E_inverse, const Execution& execution);

}  // namespace poise
