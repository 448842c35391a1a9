#include <algorithm>
#include <cassert>
#include <vector>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/backend/cpu/sampled_kernels.hpp"
#include "poise/backend/cpu/sparse_rows.hpp"
#include "poise/base/parallel.hpp"

namespace poise {
namespace {

/// V with its columns padded to whole lanes.
Matrix<float> with_whole_lanes(int threads, MatrixView<const float> v) {
  const std::int64_t padded = (v.cols + sampled_lane - 1) / sampled_lane * sampled_lane;
  Matrix<float> copy(v.rows, padded);
  pack(threads, v, copy.view());
  return copy;
}

template <class Body>
void for_each_row(int threads, CsrView x, MatrixView<const float> t, std::int64_t padded, const Body& body) {
  const Tiling tiling{x.rows, sparse_rows_per_tile};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    SampledScratch scratch(padded);
    for (std::int64_t u = tiling.first(tile); u < tiling.last(tile); ++u) {
      std::copy_n(t.row(u).begin(), t.cols, scratch.t.begin());
      body(u, scratch);
    }
  });
}

}  // namespace

void CpuBackend::sampled_dots(CsrView x, MatrixView<const float> t, MatrixView<const float> v,
                              std::span<float> out) {
  assert(t.rows == x.rows && v.rows == x.cols && t.cols == v.cols);
  assert(static_cast<std::int64_t>(out.size()) == x.entries());
  const SampledKernels kernels = sampled_kernels();
  const Matrix<float> factors = with_whole_lanes(threads_, v);
  for_each_row(threads_, x, t, factors.cols(), [&](std::int64_t u, SampledScratch& scratch) {
    kernels.dots(x, u, factors.view(), scratch, out.data());
  });
}

void CpuBackend::sampled_product(CsrView x, std::span<const float> w, std::span<const float> c,
                                 MatrixView<const float> t, MatrixView<const float> v, MatrixView<float> s) {
  assert(t.rows == x.rows && v.rows == x.cols && t.cols == v.cols && s.rows == t.rows && s.cols == t.cols);
  const SampledKernels kernels = sampled_kernels();
  const Matrix<float> factors = with_whole_lanes(threads_, v);
  const float* const w_data = w.empty() ? nullptr : w.data();
  const float* const c_data = c.empty() ? nullptr : c.data();
  for_each_row(threads_, x, t, factors.cols(), [&](std::int64_t u, SampledScratch& scratch) {
    kernels.product(x, u, w_data, c_data, factors.view(), scratch);
    const auto row = s.row(u);
    for (std::int64_t j = 0; j < s.cols; ++j) row[j] = static_cast<float>(row[j] + scratch.sums[j]);
  });
}

}  // namespace poise
