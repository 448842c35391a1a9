#include "poise/backend/cpu/widened_kernels.hpp"

#include <cstring>

#include "poise/linalg/simd.hpp"

namespace poise {
namespace {

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

template <int rows, int bytes>
POISE_INLINE void add_all(const WidenedPart& a, const double* b, double* out) {
  a.transposed ? add_blocks<true, rows, bytes>(a, b, out) : add_blocks<false, rows, bytes>(a, b, out);
}

}  // namespace

AddWidened add_widened() { return simd::version<add_all<1, 16>, add_all<3, 32>, add_all<8, 64>>(); }

}  // namespace poise
