#include "poise/model/full_rank/start.hpp"

#include <utility>

#include "poise/base/parallel.hpp"
#include "poise/model/full_rank/feature_change.hpp"

namespace poise {

template <class T>
void start_columns(const FullRankStart& start, const ColumnProblem& problem,
                   std::span<const std::int32_t> items, Out<T> h, Out<T> r, Backend& backend, int threads) {
  constexpr std::int64_t items_per_tile = 16;
  const std::int64_t before = start.B.rows;
  Matrix<T> columns(h.rows, h.cols);
  const Tiling tiling{h.rows, items_per_tile};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    std::vector<double> factors;
    for (std::int64_t k = tiling.first(tile); k < tiling.last(tile); ++k) {
      const std::int32_t i = items[k];
      // B_:i is e_i - (l_i / b_i) h, or e_i - h / h_ii with a zero diagonal.
      factors.push_back(start.zero_diagonal ? -start.h[i] : -problem.W->b_of(i) / problem.l[i]);
    }
    for (std::int64_t j = 0; j < before; ++j) {  // by rows, which lie together
      for (std::int64_t k = tiling.first(tile); k < tiling.last(tile); ++k) {
        columns(k, j) =
            static_cast<T>(factors[k - tiling.first(tile)] * static_cast<double>(start.B(j, items[k])));
      }
    }
    for (std::int64_t k = tiling.first(tile); k < tiling.last(tile); ++k) {
      columns(k, items[k]) = static_cast<T>(start.h[items[k]]);
    }
  });
  backend.upload(std::as_const(columns).view(), h);
  changed_residual<T>(start.change, items, In<T>(h), r, backend);
  subtract_feature_terms<T>(start.change, In<T>(h), r, backend, threads);
}

template void start_columns<float>(const FullRankStart&, const ColumnProblem&, std::span<const std::int32_t>,
                                   Out<float>, Out<float>, Backend&, int);
template void start_columns<double>(const FullRankStart&, const ColumnProblem&, std::span<const std::int32_t>,
                                    Out<double>, Out<double>, Backend&, int);

}  // namespace poise
