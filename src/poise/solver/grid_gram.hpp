#pragma once

#include <span>

#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/solver/grid_tiles.hpp"

namespace poise {

/// The tiles of G = X' diag(a) X + diag(shift) that a process holds, on and below the diagonal, X the 0/1
/// support (m x n) and `users_of` its transpose; a is empty for ones. Each process counts its own tiles from
/// all of X, so that nothing is sent: 1 / P of the pairs of items of all users. Sums of whole numbers, or in
/// float64 in the order of users, rounded once. Beside the tiles: 4 bytes for each entry of X in the process'
/// rows of tiles, and a column for each thread.
template <class T>
void fill_gram_tiles(CsrView X, CsrView users_of, std::span<const float> a, std::span<const double> shift,
                     GridTiles<T>& tiles, const Execution& execution);

extern template void fill_gram_tiles(CsrView, CsrView, std::span<const float>, std::span<const double>,
                                     GridTiles<float>&, const Execution&);
extern template void fill_gram_tiles(CsrView, CsrView, std::span<const float>, std::span<const double>,
                                     GridTiles<double>&, const Execution&);

}  // namespace poise
