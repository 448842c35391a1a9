#include <algorithm>
#include <array>
#include <cassert>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/base/parallel.hpp"

namespace poise {
namespace {

constexpr std::int64_t rows_per_tile = 16;
constexpr std::int64_t cols_per_tile = 1024;  // whose float64 sums fit the first-level cache

}  // namespace

void CpuBackend::spmm(CsrView x, MatrixView<const float> b, MatrixView<float> y) {
  assert(b.rows == x.cols && y.rows == x.rows && y.cols == b.cols);
  const Tiling rows{y.rows, rows_per_tile};
  const Tiling cols{y.cols, cols_per_tile};
  for_each_tile(rows.tiles() * cols.tiles(), threads_, [&](std::int64_t tile) {
    const std::int64_t row_tile = tile / cols.tiles();
    const std::int64_t first = cols.first(tile % cols.tiles());
    const std::int64_t width = cols.last(tile % cols.tiles()) - first;
    std::array<double, cols_per_tile> sums;
    for (std::int64_t u = rows.first(row_tile); u < rows.last(row_tile); ++u) {
      std::fill_n(sums.begin(), width, 0.0);
      const auto stored = x.row(u);
      const auto values = x.row_values(u);
      for (std::size_t e = 0; e < stored.size(); ++e) {
        const float* source = b.data + stored[e] * b.stride + first;
        const double value = values.empty() ? 1 : values[e];
        for (std::int64_t j = 0; j < width; ++j) sums[j] += value * source[j];
      }
      for (std::int64_t j = 0; j < width; ++j) y(u, first + j) = static_cast<float>(sums[j]);
    }
  });
}

}  // namespace poise
