#include "poise/solver/grid_gram.hpp"

#include <algorithm>
#include <vector>

namespace poise {

namespace {

/// The columns of X that are rows of this process' tiles, by their local numbers, which ascend as the items
/// do.
template <class T>
Csr columns_of_tiles(CsrView X, const GridTiles<T>& tiles) {
  std::vector<std::int32_t> local(X.cols, -1);
  for (std::int64_t r = 0; r < tiles.rows(); ++r) local[tiles.row(r)] = static_cast<std::int32_t>(r);
  Csr result{.rows = X.rows, .cols = tiles.rows(), .offsets = {0}};
  result.offsets.reserve(X.rows + 1);
  for (std::int64_t u = 0; u < X.rows; ++u) {
    for (const std::int32_t i : X.row(u)) {
      if (local[i] >= 0) result.indices.push_back(local[i]);
    }
    result.offsets.push_back(std::ssize(result.indices));
  }
  return result;
}

}  // namespace

template <class T>
void fill_gram_tiles(CsrView X, CsrView users_of, std::span<const float> a, std::span<const double> shift,
                     GridTiles<T>& tiles, const Execution& execution) {
  const Csr mine = columns_of_tiles(X, tiles);
  const CsrView rows = mine.view();
  const Tiling columns{tiles.cols(), 16};
  for_each_tile(columns.tiles(), execution.threads, [&](std::int64_t tile) {
    stop_if_asked(execution.observer);
    std::vector<double> sums(tiles.rows());
    for (std::int64_t c = columns.first(tile); c < columns.last(tile); ++c) {
      const std::int64_t j = tiles.col(c);
      const std::int64_t first = j / tiles.tile() * tiles.tile();  // of the diagonal tile
      std::int64_t above = 0;                                      // local rows before that
      while (above < tiles.rows() && tiles.row(above) < first) above += tiles.tile();
      above = std::min(above, tiles.rows());
      std::ranges::fill(sums, 0.0);
      for (const std::int32_t u : users_of.row(j)) {
        const double weight = a.empty() ? 1.0 : static_cast<double>(a[u]);
        const auto items = rows.row(u);
        for (auto i = std::ranges::lower_bound(items, above); i != items.end(); ++i) sums[*i] += weight;
      }
      T* const to = tiles.column(c);
      for (std::int64_t r = above; r < tiles.rows(); ++r)
        to[r] = static_cast<T>(sums[r] + (tiles.row(r) == j ? shift[j] : 0.0));
    }
  });
}

template void fill_gram_tiles(CsrView, CsrView, std::span<const float>, std::span<const double>,
                              GridTiles<float>&, const Execution&);
template void fill_gram_tiles(CsrView, CsrView, std::span<const float>, std::span<const double>,
                              GridTiles<double>&, const Execution&);

}  // namespace poise
