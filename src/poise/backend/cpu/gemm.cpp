#include <algorithm>
#include <cassert>
#include <cstring>
#include <vector>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/dense_kernels.hpp"
#include "poise/linalg/serial_blas.hpp"
#include "poise/linalg/simd.hpp"

namespace poise {
namespace {

using dense::leading;
using dense::part;

CBLAS_TRANSPOSE to_cblas(Op op) { return op == Op::none ? CblasNoTrans : CblasTrans; }

void blas_gemm(Op op_a, Op op_b, blasint inner, float alpha, MatrixView<const float> a,
               MatrixView<const float> b, float beta, MatrixView<float> c) {
  cblas_sgemm(CblasRowMajor, to_cblas(op_a), to_cblas(op_b), static_cast<blasint>(c.rows),
              static_cast<blasint>(c.cols), inner, alpha, a.data, leading(a), b.data, leading(b), beta,
              c.data, leading(c));
}

void blas_gemm(Op op_a, Op op_b, blasint inner, double alpha, MatrixView<const double> a,
               MatrixView<const double> b, double beta, MatrixView<double> c) {
  cblas_dgemm(CblasRowMajor, to_cblas(op_a), to_cblas(op_b), static_cast<blasint>(c.rows),
              static_cast<blasint>(c.cols), inner, alpha, a.data, leading(a), b.data, leading(b), beta,
              c.data, leading(c));
}

/// The edge of C's tiles, from C's shape alone. Large ones cost little beyond a single call (6 % at 1024, 9 %
/// at 512), but a small C must be cut finer to keep several cores busy.
std::int64_t tile_edge(std::int64_t rows, std::int64_t cols) {
  std::int64_t edge = 1024;
  while (edge > 128 && Tiling{rows, edge}.tiles() * Tiling{cols, edge}.tiles() < 16) edge /= 2;
  return edge;
}

Tiling row_tiling(std::int64_t rows, std::int64_t cols) { return {rows, tile_edge(rows, cols)}; }

/// The row tiles [first, last) of C.
template <class T>
void tiled_gemm(int threads, Op op_a, Op op_b, T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta,
                MatrixView<T> c, std::int64_t first, std::int64_t last) {
  const std::int64_t inner = op_a == Op::none ? a.cols : a.rows;
  assert((op_a == Op::none ? a.rows : a.cols) == c.rows);
  assert((op_b == Op::none ? b.cols : b.rows) == c.cols);
  assert((op_b == Op::none ? b.rows : b.cols) == inner);
  const SerialBlas serial;
  const Tiling rows = row_tiling(c.rows, c.cols);
  const Tiling cols{c.cols, rows.size};
  for_each_tile((last - first) * cols.tiles(), threads, [&](std::int64_t tile) {
    const std::int64_t row = rows.first(first + tile / cols.tiles());
    const std::int64_t row_count = rows.last(first + tile / cols.tiles()) - row;
    const std::int64_t col = cols.first(tile % cols.tiles());
    const std::int64_t col_count = cols.last(tile % cols.tiles()) - col;
    const auto a_part =
        op_a == Op::none ? part(a, row, row_count, 0, inner) : part(a, 0, inner, row, row_count);
    const auto b_part =
        op_b == Op::none ? part(b, 0, inner, col, col_count) : part(b, col, col_count, 0, inner);
    blas_gemm(op_a, op_b, static_cast<blasint>(inner), alpha, a_part, b_part, beta,
              part(c, row, row_count, col, col_count));
  });
}

template <class T>
double gemm_operations(Op op_a, In<T> a, Out<T> c) {
  const std::int64_t inner = op_a == Op::none ? a.cols : a.rows;
  return 2 * static_cast<double>(c.rows) * static_cast<double>(c.cols) * static_cast<double>(inner);
}

/// Columns of B and C that are multiplied side by side.
constexpr std::int64_t widened_width = 16;

/// A part of A, or of A', by rows of C: entry (r, k) is data[r * stride + k], or data[k * stride + r] of A'.
struct WidenedPart {
  const float* data;
  std::int64_t stride;
  bool transposed;
  std::int64_t rows;
  std::int64_t inner;
};

/// `rows` rows of out, their sums in registers of `bytes`.
template <bool transposed, int rows, int bytes>
POISE_INLINE void add_rows(const WidenedPart& a, std::int64_t first, const double* b, double* out) {
  using Lane [[gnu::vector_size(bytes)]] = double;
  constexpr int width = bytes / static_cast<int>(sizeof(double));
  constexpr int lanes = static_cast<int>(widened_width) / width;
  const std::int64_t row_step = transposed ? 1 : a.stride;
  const std::int64_t inner_step = transposed ? a.stride : 1;
  Lane sums[rows][lanes] = {};
  const float* const entries = a.data + first * row_step;
  for (std::int64_t k = 0; k < a.inner; ++k) {
    Lane factors[lanes];
    for (int l = 0; l < lanes; ++l) std::memcpy(&factors[l], b + k * widened_width + l * width, sizeof(Lane));
    for (int r = 0; r < rows; ++r) {
      const double value = entries[r * row_step + k * inner_step];
      for (int l = 0; l < lanes; ++l) sums[r][l] += value * factors[l];
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int l = 0; l < lanes; ++l) {
      Lane total;
      double* const to = out + (first + r) * widened_width + l * width;
      std::memcpy(&total, to, sizeof(Lane));
      total += sums[r][l];
      std::memcpy(to, &total, sizeof(Lane));
    }
  }
}

template <bool transposed, int rows, int bytes>
POISE_INLINE void add_blocks(const WidenedPart& a, const double* b, double* out) {
  std::int64_t first = 0;
  for (; first + rows <= a.rows; first += rows) add_rows<transposed, rows, bytes>(a, first, b, out);
  for (; first < a.rows; ++first) add_rows<transposed, 1, bytes>(a, first, b, out);
}

/// out += A b, with b (inner x 16) and out (rows x 16) contiguous, A's numbers widened as they are read.
template <int rows, int bytes>
POISE_INLINE void add_all(const WidenedPart& a, const double* b, double* out) {
  a.transposed ? add_blocks<true, rows, bytes>(a, b, out) : add_blocks<false, rows, bytes>(a, b, out);
}

/// B in strips of 16 columns, each contiguous, the last filled up with zeros.
std::vector<double> in_strips(Op op, MatrixView<const double> b, std::int64_t inner, Tiling strips) {
  std::vector<double> packed(strips.tiles() * inner * widened_width, 0.0);
  for (std::int64_t strip = 0; strip < strips.tiles(); ++strip) {
    double* to = packed.data() + strip * inner * widened_width;
    for (std::int64_t k = 0; k < inner; ++k, to += widened_width) {
      for (std::int64_t j = strips.first(strip); j < strips.last(strip); ++j)
        to[j - strips.first(strip)] = op == Op::none ? b(k, j) : b(j, k);
    }
  }
  return packed;
}

/// A is read once from memory: all products with a part of it are computed while that part is in a cache.
void widened_gemm(int threads, Op op_a, Op op_b, double alpha, MatrixView<const float> a,
                  MatrixView<const double> b, double beta, MatrixView<double> c) {
  constexpr std::int64_t inner_part = 128;
  const bool plain = op_a == Op::none;
  const std::int64_t inner = plain ? a.cols : a.rows;
  const Tiling strips{c.cols, widened_width};
  const std::vector<double> packed = in_strips(op_b, b, inner, strips);
  const auto add = simd::version<add_all<1, 16>, add_all<3, 32>, add_all<8, 64>>();
  const Tiling rows{c.rows, plain ? 64 : 256};
  const Tiling inners{inner, inner_part};
  for_each_tile(rows.tiles(), threads, [&](std::int64_t tile) {
    const std::int64_t row = rows.first(tile);
    const std::int64_t count = rows.last(tile) - row;
    std::vector<double> sums(strips.tiles() * count * widened_width, 0.0);
    std::vector<float> gathered(plain ? 0 : inner_part * count);
    for (std::int64_t k = 0; k < inners.tiles(); ++k) {
      const std::int64_t first = inners.first(k);
      WidenedPart part{.data = a.data + row * a.stride + first,
                       .stride = a.stride,
                       .transposed = !plain,
                       .rows = count,
                       .inner = inners.last(k) - first};
      if (!plain) {  // A part of A' lies scattered over as many pages as it has rows.
        for (std::int64_t i = 0; i < part.inner; ++i)
          std::copy_n(a.data + (first + i) * a.stride + row, count, &gathered[i * count]);
        part.data = gathered.data();
        part.stride = count;
      }
      for (std::int64_t strip = 0; strip < strips.tiles(); ++strip) {
        add(part, packed.data() + (strip * inner + first) * widened_width,
            sums.data() + strip * count * widened_width);
      }
    }
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t j = 0; j < c.cols; ++j) {
        const double sum = sums[(j / widened_width * count + i) * widened_width + j % widened_width];
        c(row + i, j) = alpha * sum + (beta == 0 ? 0.0 : beta * c(row + i, j));
      }
    }
  });
}

}  // namespace

void CpuBackend::gemm(Op op_a, Op op_b, double alpha, In<float> a, In<double> b, double beta, Out<double> c) {
  widened_gemm(threads_, op_a, op_b, alpha, a.host(), b.host(), beta, c.host());
}

void CpuBackend::over_tiles(const Tiling& rows, double /*operations*/, Out<float> /*c*/,
                            const ComputeTiles& compute) {
  compute(0, rows.tiles());
}
void CpuBackend::over_tiles(const Tiling& rows, double /*operations*/, Out<double> /*c*/,
                            const ComputeTiles& compute) {
  compute(0, rows.tiles());
}

void CpuBackend::gemm(Op op_a, Op op_b, float alpha, In<float> a, In<float> b, float beta, Out<float> c) {
  over_tiles(row_tiling(c.rows, c.cols), gemm_operations(op_a, a, c), c,
             [&](std::int64_t first, std::int64_t last) {
               tiled_gemm(threads_, op_a, op_b, alpha, a.host(), b.host(), beta, c.host(), first, last);
             });
}

void CpuBackend::gemm(Op op_a, Op op_b, double alpha, In<double> a, In<double> b, double beta,
                      Out<double> c) {
  over_tiles(row_tiling(c.rows, c.cols), gemm_operations(op_a, a, c), c,
             [&](std::int64_t first, std::int64_t last) {
               tiled_gemm(threads_, op_a, op_b, alpha, a.host(), b.host(), beta, c.host(), first, last);
             });
}

}  // namespace poise
