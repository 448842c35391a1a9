#include "poise/backend/cpu/widened_kernels.hpp"

#include <cstring>

namespace poise {
namespace {

// What is inlined is compiled for the instruction set of the function it ends up in.
#define POISE_INLINE [[gnu::always_inline]] inline

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

void add_plain(const WidenedPart& a, const double* b, double* out) { add_all<1, 16>(a, b, out); }
#ifdef __x86_64__
[[gnu::target("avx2,fma")]] void add_avx2(const WidenedPart& a, const double* b, double* out) {
  add_all<3, 32>(a, b, out);
}
[[gnu::target("avx512f,avx2,fma")]] void add_avx512(const WidenedPart& a, const double* b, double* out) {
  add_all<8, 64>(a, b, out);
}
#endif

}  // namespace

AddWidened add_widened() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return add_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return add_avx2;
#endif
  return add_plain;
}

}  // namespace poise
