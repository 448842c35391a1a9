#include <algorithm>
#include <cassert>
#include <cstring>
#include <vector>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/backend/cpu/sparse_rows.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/simd.hpp"

namespace poise {
namespace {

/// Floats handled side by side; the columns of the packed factors are padded to a multiple of it with zeros.
constexpr std::int64_t sampled_lane = 16;

/// Memory of one tile: a row of T, padded, and the sums of a row of S.
struct SampledScratch {
  explicit SampledScratch(std::int64_t padded) : t(padded), run(padded), sums(padded) {}
  std::vector<float> t;
  std::vector<float> run;
  std::vector<double> sums;
};

/// Entries handled together: a lane of t, or of the sums, is read once for all of them.
constexpr std::int64_t group = 4;
/// Rows of V are short and lie scattered: their first lines are prefetched. The processor prefetches the rest
/// of long rows itself.
constexpr std::int64_t prefetched_lanes = 8;

using Lane [[gnu::vector_size(sampled_lane * sizeof(float))]] = float;

/// By reference, because a vector passed or returned by value ties the function to one instruction set.
POISE_INLINE void load(Lane& lane, const float* at) { std::memcpy(&lane, at, sizeof lane); }

POISE_INLINE float sum_of(const Lane& lane) {
  float parts[sampled_lane];
  std::memcpy(parts, &lane, sizeof lane);
  for (std::int64_t half = sampled_lane / 2; half > 0; half /= 2) {
    for (std::int64_t k = 0; k < half; ++k) parts[k] += parts[k + half];
  }
  return parts[0];
}

/// Rows of V of the entries e, e + 1, ... of one group; past the row's end the last one is repeated.
struct Rows {
  const float* at[group];
};

POISE_INLINE Rows rows_at(CsrView x, std::int64_t e, std::int64_t end, MatrixView<const float> v) {
  Rows rows;
  for (std::int64_t k = 0; k < group; ++k) {
    rows.at[k] = v.data + x.indices[std::min(e + k, end - 1)] * v.stride;
  }
  return rows;
}

POISE_INLINE void prefetch(CsrView x, std::int64_t e, std::int64_t end, MatrixView<const float> v) {
  if (e >= end) return;
  const Rows rows = rows_at(x, e, end, v);
  const std::int64_t lanes = std::min(prefetched_lanes, v.cols / sampled_lane);
  for (const float* const row : rows.at) {
    for (std::int64_t l = 0; l < lanes; ++l) __builtin_prefetch(row + l * sampled_lane);
  }
}

POISE_INLINE void dot_group(const float* t, const Rows& rows, std::int64_t width, float* out) {
  Lane sums[group] = {};
  for (std::int64_t j = 0; j < width; j += sampled_lane) {
    Lane lane;
    load(lane, t + j);
    for (std::int64_t k = 0; k < group; ++k) {
      Lane row;
      load(row, rows.at[k] + j);
      sums[k] += lane * row;
    }
  }
  for (std::int64_t k = 0; k < group; ++k) out[k] = sum_of(sums[k]);
}

/// out[e] for the entries e of row u, with V packed; `t` of the scratch holds the row of T.
POISE_INLINE void dots(CsrView x, std::int64_t u, MatrixView<const float> v, SampledScratch& scratch,
                       float* out) {
  const std::int64_t end = x.offsets[u + 1];
  for (std::int64_t e = x.offsets[u]; e < end; e += group) {
    prefetch(x, e + group, end, v);
    float found[group];
    dot_group(scratch.t.data(), rows_at(x, e, end, v), v.cols, found);
    std::copy_n(found, std::min(group, end - e), out + e);
  }
}

/// sums = sum over the entries of row u of (w_e - c_e (t . v)) v; w or c null: zeros.
POISE_INLINE void product(CsrView x, std::int64_t u, const float* w, const float* c,
                          MatrixView<const float> v, SampledScratch& scratch) {
  const std::int64_t width = v.cols;
  const std::int64_t end = x.offsets[u + 1];
  float* const run = scratch.run.data();
  double* const sums = scratch.sums.data();
  std::fill_n(sums, width, 0.0);
  std::fill_n(run, width, 0.0F);
  std::int64_t in_run = 0;
  const auto flush = [&] {
    for (std::int64_t j = 0; j < width; ++j) {
      sums[j] += run[j];
      run[j] = 0;
    }
    in_run = 0;
  };
  for (std::int64_t e = x.offsets[u]; e < end; e += group) {
    prefetch(x, e + group, end, v);
    const Rows rows = rows_at(x, e, end, v);
    float found[group] = {};
    if (c != nullptr) dot_group(scratch.t.data(), rows, width, found);
    float scale[group] = {};
    for (std::int64_t k = 0; k < std::min(group, end - e); ++k) {
      scale[k] = (w != nullptr ? w[e + k] : 0.0F) - (c != nullptr ? c[e + k] * found[k] : 0.0F);
    }
    for (std::int64_t j = 0; j < width; j += sampled_lane) {
      Lane lane;
      load(lane, run + j);
      for (std::int64_t k = 0; k < group; ++k) {
        Lane row;
        load(row, rows.at[k] + j);
        lane += scale[k] * row;
      }
      std::memcpy(run + j, &lane, sizeof lane);
    }
    in_run += group;
    if (in_run == run_length) flush();
  }
  if (in_run > 0) flush();
}

/// V with its columns padded to whole lanes.
Matrix<float> with_whole_lanes(int threads, MatrixView<const float> v) {
  const std::int64_t padded = (v.cols + sampled_lane - 1) / sampled_lane * sampled_lane;
  Matrix<float> copy(v.rows, padded);
  pack(threads, v, copy.view());
  return copy;
}

template <class Body>
void for_each_sampled_row(int threads, CsrView x, MatrixView<const float> t, std::int64_t padded,
                          const Body& body) {
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

void CpuBackend::sampled_dots(CsrView x, In<float> t, In<float> v, std::span<float> out) {
  assert(t.rows == x.rows && v.rows == x.cols && t.cols == v.cols);
  assert(static_cast<std::int64_t>(out.size()) == x.entries());
  const auto version = simd::version<dots>();
  const Matrix<float> factors = with_whole_lanes(threads_, v.host());
  for_each_sampled_row(threads_, x, t.host(), factors.cols(), [&](std::int64_t u, SampledScratch& scratch) {
    version(x, u, factors.view(), scratch, out.data());
  });
}

void CpuBackend::sampled_product(CsrView x, std::span<const float> w, std::span<const float> c, In<float> t,
                                 In<float> v, Out<float> s) {
  assert(t.rows == x.rows && v.rows == x.cols && t.cols == v.cols && s.rows == t.rows && s.cols == t.cols);
  const auto version = simd::version<product>();
  const Matrix<float> factors = with_whole_lanes(threads_, v.host());
  const float* const w_data = w.empty() ? nullptr : w.data();
  const float* const c_data = c.empty() ? nullptr : c.data();
  for_each_sampled_row(threads_, x, t.host(), factors.cols(), [&](std::int64_t u, SampledScratch& scratch) {
    version(x, u, w_data, c_data, factors.view(), scratch);
    const auto row = s.host().row(u);
    for (std::int64_t j = 0; j < s.cols; ++j) row[j] = static_cast<float>(row[j] + scratch.sums[j]);
  });
}

}  // namespace poise
