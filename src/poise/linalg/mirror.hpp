#pragma once

#include <algorithm>

#include "poise/base/parallel.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// G_ji = G_ij below the diagonal, by square blocks so that neither side strides through memory.
template <class T>
void mirror_upper(MatrixView<T> g, int threads) {
  const Tiling tiling{g.rows, 64};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    for (std::int64_t source = 0; source <= tile; ++source) {
      for (std::int64_t j = tiling.first(tile); j < tiling.last(tile); ++j) {
        const std::int64_t end = std::min(tiling.last(source), j);
        for (std::int64_t i = tiling.first(source); i < end; ++i) g(j, i) = g(i, j);
      }
    }
  });
}

}  // namespace poise
