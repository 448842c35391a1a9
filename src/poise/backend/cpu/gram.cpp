#include <algorithm>
#include <cassert>
#include <vector>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/mirror.hpp"

namespace poise {
namespace {

constexpr std::int64_t items_per_tile = 16;

/// The upper triangle, one item i at a time: G_ij = sum of a_u over the users u of i that also have j >= i.
/// The sums of one row of G stay in cache. `Sum` is an integer for counts and double for weights.
template <class Sum, class WeightOf, class T>
void upper_triangle(CsrView x, int threads, const WeightOf& weight_of, MatrixView<T> g) {
  const Csr users_of = transpose(x, threads);
  const Tiling tiling{x.cols, items_per_tile};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    std::vector<Sum> sums(x.cols);
    for (std::int64_t i = tiling.first(tile); i < tiling.last(tile); ++i) {
      std::fill(sums.begin() + i, sums.end(), Sum{0});
      for (const std::int32_t u : users_of.view().row(i)) {
        const Sum weight = weight_of(u);
        const auto items = x.row(u);
        auto item = std::lower_bound(items.begin(), items.end(), i);
        for (; item != items.end(); ++item) sums[*item] += weight;
      }
      for (std::int64_t j = i; j < x.cols; ++j) g(i, j) = static_cast<T>(sums[j]);
    }
  });
}

template <class T>
void gram_of(CsrView x, std::span<const float> row_weights, int threads, MatrixView<T> g) {
  assert(g.rows == x.cols && g.cols == x.cols);
  assert(row_weights.empty() || static_cast<std::int64_t>(row_weights.size()) == x.rows);
  if (row_weights.empty()) {
    upper_triangle<std::int32_t>(
        x, threads, [](std::int32_t) { return 1; }, g);
  } else {
    upper_triangle<double>(
        x, threads, [&](std::int32_t u) { return row_weights[u]; }, g);
  }
  mirror_upper(g, threads);
}

}  // namespace

void CpuBackend::gram(CsrView x, std::span<const float> row_weights, Out<float> g) {
  gram_of(x, row_weights, threads_, g.host());
}

void CpuBackend::gram(CsrView x, std::span<const float> row_weights, Out<double> g) {
  gram_of(x, row_weights, threads_, g.host());
}

}  // namespace poise
