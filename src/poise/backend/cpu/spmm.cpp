#include <algorithm>
#include <cassert>
#include <cstring>
#include <vector>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/backend/cpu/sparse_rows.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/dense_kernels.hpp"
#include "poise/linalg/simd.hpp"

namespace poise {
namespace {

/// Floats added side by side; the columns of a packed block are padded to a multiple of it.
constexpr std::int64_t spmm_lane = 16;
/// Long pieces of B's rows, whose sums still stay in the first-level cache.
constexpr std::int64_t direct_width = 2048;
constexpr std::int64_t prefetch_distance =
    4;  // entries; a fifth faster if B's block exceeds the second-level cache
constexpr std::int64_t prefetch_lines = 64;

POISE_INLINE void flush(const float* run, double* sums, std::int64_t width) {
  for (std::int64_t j = 0; j < width; ++j) sums[j] += run[j];
}
POISE_INLINE void store(const double* sums, float* y, std::int64_t width) {
  for (std::int64_t j = 0; j < width; ++j) y[j] = static_cast<float>(sums[j]);
}

template <bool with_values>
POISE_INLINE void direct_rows(CsrView x, std::int64_t first, std::int64_t last, MatrixView<const float> b,
                              MatrixView<float> y) {
  alignas(64) float run[direct_width];
  alignas(64) double sums[direct_width];
  // Rows of a tile share rows of B, of which these columns stay in the caches.
  for (std::int64_t col = 0; col < b.cols; col += direct_width) {
    const std::int64_t width = std::min(direct_width, b.cols - col);
    for (std::int64_t u = first; u < last; ++u) {
      const std::int64_t end = x.offsets[u + 1];
      std::memset(sums, 0, width * sizeof *sums);
      for (std::int64_t e = x.offsets[u]; e < end;) {
        const std::int64_t stop = std::min<std::int64_t>(end, e + run_length);
        std::memset(run, 0, width * sizeof *run);
        for (; !with_values && e + 4 <= stop; e += 4) {  // a sum is loaded and stored once for four entries
          const float* const base = b.data + col;
          const float* const p = base + x.indices[e] * b.stride;
          const float* const q = base + x.indices[e + 1] * b.stride;
          const float* const r = base + x.indices[e + 2] * b.stride;
          const float* const s = base + x.indices[e + 3] * b.stride;
          for (std::int64_t j = 0; j < width; ++j) run[j] = (((run[j] + p[j]) + q[j]) + r[j]) + s[j];
        }
        for (; e < stop; ++e) {
          const float* const source = b.data + x.indices[e] * b.stride + col;
          const float value = with_values ? x.values[e] : 1.0F;
          for (std::int64_t j = 0; j < width; ++j) run[j] += with_values ? value * source[j] : source[j];
        }
        flush(run, sums, width);
      }
      store(sums, y.data + u * y.stride + col, width);
    }
  }
}

template <int lanes, bool with_values>
POISE_INLINE void float64_strip(CsrView x, std::int64_t first, std::int64_t last, MatrixView<const double> b,
                                MatrixView<double> y, std::int64_t col) {
  using Lane [[gnu::vector_size(8 * sizeof(double))]] = double;
  for (std::int64_t u = first; u < last; ++u) {
    Lane sums[lanes] = {};
    const std::int64_t end = x.offsets[u + 1];
    for (std::int64_t e = x.offsets[u]; e < end; ++e) {
      const double* const source = b.data + x.indices[e] * b.stride + col;
      const double* const ahead =
          b.data + x.indices[std::min(e + prefetch_lines / lanes, end - 1)] * b.stride + col;
      for (int l = 0; l < lanes; ++l) {
        __builtin_prefetch(ahead + l * 8);
        Lane part;
        std::memcpy(&part, source + l * 8, sizeof part);
        sums[l] += with_values ? static_cast<double>(x.values[e]) * part : part;
      }
    }
    std::memcpy(y.data + u * y.stride + col, sums, sizeof sums);
  }
}

/// B is read in place: its rows are long enough to fill cache lines.
template <bool with_values>
POISE_INLINE void float64_rows(CsrView x, std::int64_t first, std::int64_t last, MatrixView<const double> b,
                               MatrixView<double> y) {
  std::int64_t col = 0;
  for (; col + 32 <= b.cols; col += 32) float64_strip<4, with_values>(x, first, last, b, y, col);
  for (; col + 16 <= b.cols; col += 16) float64_strip<2, with_values>(x, first, last, b, y, col);
  if (col == b.cols) return;
  for (std::int64_t u = first; u < last; ++u) {
    double sums[16] = {};
    for (std::int64_t e = x.offsets[u]; e < x.offsets[u + 1]; ++e) {
      const double* const source = b.data + x.indices[e] * b.stride;
      const double value = with_values ? x.values[e] : 1.0;
      for (std::int64_t j = col; j < b.cols; ++j) sums[j - col] += value * source[j];
    }
    std::copy_n(sums, b.cols - col, y.data + u * y.stride + col);
  }
}

template <int lanes, bool with_values>
POISE_INLINE void packed_rows(CsrView x, std::int64_t first, std::int64_t last, MatrixView<const float> b,
                              MatrixView<float> y) {
  using Lane [[gnu::vector_size(spmm_lane * sizeof(float))]] = float;
  constexpr std::int64_t width = lanes * spmm_lane;
  alignas(64) double sums[width];
  alignas(64) float last_run[width];
  const std::int32_t* const indices = x.indices.data();
  const float* const values = x.values.data();
  for (std::int64_t u = first; u < last; ++u) {
    const std::int64_t end = x.offsets[u + 1];
    std::memset(sums, 0, sizeof sums);
    for (std::int64_t e = x.offsets[u]; e < end;) {
      const std::int64_t stop = std::min<std::int64_t>(end, e + run_length);
      Lane run[lanes] = {};
      for (; e < stop; ++e) {
        const float* const source = b.data + indices[e] * b.stride;
        const float* const ahead = b.data + indices[std::min(e + prefetch_distance, end - 1)] * b.stride;
        for (int l = 0; l < lanes; ++l) {
          __builtin_prefetch(ahead + l * spmm_lane);
          Lane part;
          std::memcpy(&part, source + l * spmm_lane, sizeof part);
          run[l] += with_values ? values[e] * part : part;
        }
      }
      std::memcpy(last_run, run, sizeof run);
      flush(last_run, sums, width);
    }
    store(sums, y.data + u * y.stride, y.cols);
  }
}

// Rows [first, last) of Y = X B. Every version adds in the same order, so a row's result does not depend on
// the kernel that computed it.

/// Any B, any width: its running sums live in the first-level cache.
POISE_INLINE void direct(CsrView x, std::int64_t first, std::int64_t last, MatrixView<const float> b,
                         MatrixView<float> y) {
  x.values.empty() ? direct_rows<false>(x, first, last, b, y) : direct_rows<true>(x, first, last, b, y);
}

/// Any B, any width, in float64.
POISE_INLINE void float64(CsrView x, std::int64_t first, std::int64_t last, MatrixView<const double> b,
                          MatrixView<double> y) {
  x.values.empty() ? float64_rows<false>(x, first, last, b, y) : float64_rows<true>(x, first, last, b, y);
}

template <int lanes>
POISE_INLINE void packed_lanes(CsrView x, std::int64_t first, std::int64_t last, MatrixView<const float> b,
                               MatrixView<float> y) {
  x.values.empty() ? packed_rows<lanes, false>(x, first, last, b, y)
                   : packed_rows<lanes, true>(x, first, last, b, y);
}

/// B padded to 16, 32, 64 or 128 columns: running sums live in registers.
POISE_INLINE void packed_block(CsrView x, std::int64_t first, std::int64_t last, MatrixView<const float> b,
                               MatrixView<float> y) {
  switch (b.cols / spmm_lane) {
    case 1:
      return packed_lanes<1>(x, first, last, b, y);
    case 2:
      return packed_lanes<2>(x, first, last, b, y);
    case 4:
      return packed_lanes<4>(x, first, last, b, y);
    default:
      assert(b.cols == 8 * spmm_lane);
      return packed_lanes<8>(x, first, last, b, y);
  }
}

constexpr std::int64_t packed_width = 128;

/// How many of the columns left a block takes: 128, or the largest power of two (at least 16) that the rest,
/// padded to a multiple of 16, can fill.
std::int64_t block_width(std::int64_t left) {
  const std::int64_t padded = (left + spmm_lane - 1) / spmm_lane * spmm_lane;
  std::int64_t width = packed_width;
  while (width > padded) width /= 2;
  return width;
}

}  // namespace

void CpuBackend::spmm(CsrView x, In<float> b, Out<float> y) {
  assert(b.rows == x.cols && y.rows == x.rows && y.cols == b.cols);
  const auto direct_version = simd::version<direct>();
  const auto packed_version = simd::version<packed_block>();
  const Tiling rows{y.rows, sparse_rows_per_tile};
  // A copy of B's block pays when its rows are read several times over.
  if (x.entries() < 2 * b.rows) {
    for_each_tile(rows.tiles(), threads_, [&](std::int64_t tile) {
      direct_version(x, rows.first(tile), rows.last(tile), b.host(), y.host());
    });
    return;
  }
  std::vector<float> packed_data(b.rows * std::min(packed_width, block_width(b.cols)));
  for (std::int64_t col = 0; col < b.cols;) {
    const std::int64_t padded = block_width(b.cols - col);
    const std::int64_t width = std::min(padded, b.cols - col);
    const MatrixView<float> packed{packed_data.data(), b.rows, padded, padded};
    pack(threads_, dense::part(b.host(), 0, b.rows, col, width), packed);
    const MatrixView<float> out = dense::part(y.host(), 0, y.rows, col, width);
    for_each_tile(rows.tiles(), threads_, [&](std::int64_t tile) {
      packed_version(x, rows.first(tile), rows.last(tile), packed, out);
    });
    col += width;
  }
}

void CpuBackend::spmm(CsrView x, In<double> b, Out<double> y) {
  assert(b.rows == x.cols && y.rows == x.rows && y.cols == b.cols);
  const auto version = simd::version<float64>();
  const Tiling rows{y.rows, sparse_rows_per_tile};
  for_each_tile(rows.tiles(), threads_, [&](std::int64_t tile) {
    version(x, rows.first(tile), rows.last(tile), b.host(), y.host());
  });
}

void CpuBackend::spmm(CsrView x, CsrView b, Out<float> y) {
  assert(b.rows == x.cols && y.rows == x.rows && y.cols == b.cols);
  const Tiling rows{y.rows, 4};
  for_each_tile(rows.tiles(), threads_, [&](std::int64_t tile) {
    std::vector<double> sums(b.cols);
    for (std::int64_t u = rows.first(tile); u < rows.last(tile); ++u) {
      const auto to = y.host().row(u);
      std::ranges::fill(to, 0.0F);
      for (std::int64_t e = x.offsets[u]; e < x.offsets[u + 1]; ++e) {
        const double value = x.values.empty() ? 1.0 : x.values[e];
        const std::int64_t i = x.indices[e];
        for (std::int64_t k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
          sums[b.indices[k]] += b.values.empty() ? value : value * b.values[k];
      }
      // The rows that were added have few columns of many: only those are rounded and cleared.
      for (std::int64_t e = x.offsets[u]; e < x.offsets[u + 1]; ++e) {
        for (const std::int32_t column : b.row(x.indices[e])) {
          if (sums[column] == 0.0) continue;
          to[column] = static_cast<float>(sums[column]);
          sums[column] = 0.0;
        }
      }
    }
  });
}

}  // namespace poise
