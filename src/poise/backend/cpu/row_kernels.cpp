#include "poise/backend/cpu/row_kernels.hpp"

#include <algorithm>
#include <cstring>

#include "poise/linalg/simd.hpp"

// Vectors are passed only between functions that are inlined, so no calling convention is at stake.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace poise {
namespace {

using Lane [[gnu::vector_size(row_lane * sizeof(float))]] = float;
using Half [[gnu::vector_size(8 * sizeof(float))]] = float;
using Four [[gnu::vector_size(4 * sizeof(float))]] = float;
using Wide [[gnu::vector_size(8 * sizeof(double))]] = double;

constexpr std::int64_t rows_at_once = 4;
/// How far ahead factors are prefetched: this many floats cover the latency of memory, and for short rows
/// this many rows.
constexpr std::int64_t prefetch_floats = 1024;
constexpr std::int64_t least_prefetch_rows = 8;

POISE_INLINE Lane load(const float* from) {
  Lane lane;
  std::memcpy(&lane, from, sizeof lane);
  return lane;
}
POISE_INLINE void store(float* to, Lane lane) { std::memcpy(to, &lane, sizeof lane); }

/// The sums of the lanes of four vectors.
POISE_INLINE Four sums_of(Lane a, Lane b, Lane c, Lane d) {
  const Lane ab = __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
                  __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const Lane cd = __builtin_shufflevector(c, d, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
                  __builtin_shufflevector(c, d, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const Lane all =
      __builtin_shufflevector(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
      __builtin_shufflevector(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  const Half halves = __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7) +
                      __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15);
  return __builtin_shufflevector(halves, halves, 0, 1, 2, 3) +
         __builtin_shufflevector(halves, halves, 4, 5, 6, 7);
}

/// x'y over padded vectors, added in float64.
POISE_INLINE double dot(const float* x, const float* y, std::int64_t width) {
  Wide sums = {};
  for (std::int64_t k = 0; k < width; k += 8) {
    Half a;
    Half b;
    std::memcpy(&a, x + k, sizeof a);
    std::memcpy(&b, y + k, sizeof b);
    sums += __builtin_convertvector(a, Wide) * __builtin_convertvector(b, Wide);
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// Copies the factors of entries [first, last) and prefetches the next ones.
POISE_INLINE void gather(const RowTask& task, std::int64_t first, std::int64_t last, float* to) {
  const std::int64_t distance =
      std::max(least_prefetch_rows, prefetch_floats / std::max<std::int64_t>(1, task.width));
  for (std::int64_t e = first; e < last; ++e) {
    const float* const source = task.factors + task.indices[e] * task.stride;
    const float* const ahead =
        task.factors + task.indices[std::min(e + distance, task.count - 1)] * task.stride;
    float* const row = to + (e - first) * task.width;
    std::int64_t k = 0;
    for (; k + row_lane <= task.d; k += row_lane) {
      __builtin_prefetch(ahead + k);
      store(row + k, load(source + k));
    }
    if (k == task.d) continue;
    __builtin_prefetch(ahead + k);
    store(row + k, Lane{});
    for (; k < task.d; ++k) row[k] = source[k];
  }
}

struct Chunk {
  const float* z;
  const float* c;
  const float* w;
  std::int64_t count;
};

/// t = z_e . p and run += (w_e - c_e t) z_e over the entries of a chunk; returns sum of t (2 w_e - c_e t)
/// where `with_target`, which the system itself is applied without (w = 0).
template <bool with_target>
POISE_INLINE double pass_chunk(Chunk chunk, std::int64_t width, const float* p, float* run) {
  double explained = 0;
  std::int64_t e = 0;
  for (; e + rows_at_once <= chunk.count; e += rows_at_once) {
    const float* const z0 = chunk.z + e * width;
    const float* const z1 = z0 + width;
    const float* const z2 = z1 + width;
    const float* const z3 = z2 + width;
    Lane t0 = {};
    Lane t1 = {};
    Lane t2 = {};
    Lane t3 = {};
    for (std::int64_t k = 0; k < width; k += row_lane) {
      const Lane at = load(p + k);
      t0 += load(z0 + k) * at;
      t1 += load(z1 + k) * at;
      t2 += load(z2 + k) * at;
      t3 += load(z3 + k) * at;
    }
    const Four t = sums_of(t0, t1, t2, t3);
    Four c = {};
    Four w = {};
    if (chunk.c != nullptr) std::memcpy(&c, chunk.c + e, sizeof c);
    if (with_target) std::memcpy(&w, chunk.w + e, sizeof w);
    const Four s = with_target ? w - c * t : -c * t;
    if (with_target) {
      for (int row = 0; row < rows_at_once; ++row)
        explained +=
            static_cast<double>(t[row]) * (static_cast<double>(w[row]) + static_cast<double>(s[row]));
    }
    for (std::int64_t k = 0; k < width; k += row_lane) {
      const Lane sum =
          (s[0] * load(z0 + k) + s[1] * load(z1 + k)) + (s[2] * load(z2 + k) + s[3] * load(z3 + k));
      store(run + k, load(run + k) + sum);
    }
  }
  for (; e < chunk.count; ++e) {
    const float* const z = chunk.z + e * width;
    Lane parts = {};
    for (std::int64_t k = 0; k < width; k += row_lane) parts += load(z + k) * load(p + k);
    const float t = sums_of(parts, Lane{}, Lane{}, Lane{})[0];
    const float c = chunk.c == nullptr ? 0.0F : chunk.c[e];
    const float w = with_target ? chunk.w[e] : 0.0F;
    const float s = w - c * t;
    explained += static_cast<double>(t) * (static_cast<double>(w) + static_cast<double>(s));
    for (std::int64_t k = 0; k < width; k += row_lane) store(run + k, load(run + k) + s * load(z + k));
  }
  return explained;
}

template <bool with_target>
POISE_INLINE void pass(const RowTask& task, std::int64_t first, std::int64_t last, RowSource source,
                       RowIterate& row, RowScratch& scratch) {
  const std::int64_t width = task.width;
  const float* const at = with_target ? row.y.data() : row.p.data();
  float* const run = scratch.run.data();
  double* const sums = row.sums.data();
  for (; first < last; first += row_chunk) {
    const std::int64_t end = std::min(first + row_chunk, last);
    float* const z = scratch.gathered.data() + (source == RowSource::gather ? 0 : first * width);
    if (source != RowSource::kept) gather(task, first, end, z);
    std::fill_n(run, width, 0.0F);
    const double explained = pass_chunk<with_target>(
        {z, task.c == nullptr ? nullptr : task.c + first, task.w + first, end - first}, width, at, run);
    if (with_target) row.scalars.explained += explained;
    for (std::int64_t k = 0; k < width; k += 8) {
      Half part;
      Wide sum;
      std::memcpy(&part, run + k, sizeof part);
      std::memcpy(&sum, sums + k, sizeof sum);
      sum += __builtin_convertvector(part, Wide);
      std::memcpy(sums + k, &sum, sizeof sum);
    }
  }
}

/// z = D^-1 r and p <- z + beta p.
POISE_INLINE void turn(const RowTask& task, RowIterate& row, RowScratch& scratch) {
  const std::int64_t width = task.width;
  float* const z = scratch.z.data();
  float* const p = row.p.data();
  for (std::int64_t k = 0; k < width; k += row_lane)
    store(z + k, load(row.r.data() + k) * load(task.D_inverse + k));
  const auto beta = static_cast<float>(row.scalars.turn(dot(row.r.data(), z, width)));
  for (std::int64_t k = 0; k < width; k += row_lane) store(p + k, load(z + k) + beta * load(p + k));
  std::fill_n(row.sums.data(), width, 0.0);
}

POISE_INLINE void begin(const RowTask& task, RowIterate& row, RowScratch& scratch) {
  double quadratic = 0;
  for (std::int64_t k = 0; k < task.width; ++k) {
    const double Dy = static_cast<double>(task.D[k]) * static_cast<double>(row.y[k]);
    quadratic += Dy * static_cast<double>(row.y[k]);
    row.r[k] = static_cast<float>(row.sums[k] - Dy);
  }
  row.scalars.explained -= quadratic;
  row.scalars.steps = 0;
  std::fill_n(row.p.data(), task.width, 0.0F);
  turn(task, row, scratch);
}

POISE_INLINE bool step(const RowTask& task, RowIterate& row, RowScratch& scratch) {
  const std::int64_t width = task.width;
  float* const p = row.p.data();
  float* const r = row.r.data();
  float* const y = row.y.data();
  float* const Hp = scratch.Hp.data();
  for (std::int64_t k = 0; k < width; ++k)
    Hp[k] = static_cast<float>(static_cast<double>(task.D[k]) * static_cast<double>(p[k]) - row.sums[k]);
  if (!row.scalars.step(dot(p, Hp, width))) return false;
  const auto alpha = static_cast<float>(row.scalars.alpha);
  for (std::int64_t k = 0; k < width; k += row_lane) {
    store(y + k, load(y + k) + alpha * load(p + k));
    store(r + k, load(r + k) - alpha * load(Hp + k));
  }
  turn(task, row, scratch);
  return true;
}

POISE_INLINE Wide widened(const float* from) {
  Half half;
  std::memcpy(&half, from, sizeof half);
  return __builtin_convertvector(half, Wide);
}

POISE_INLINE double residual(const RowTask& task, RowIterate& row, RowScratch& scratch) {
  const std::int64_t width = task.width;
  double* const sums = row.sums.data();
  std::fill(row.sums.begin(), row.sums.end(), 0.0);
  double explained = 0;
  for (std::int64_t first = 0; first < task.count; first += row_chunk) {
    const std::int64_t last = std::min(first + row_chunk, task.count);
    gather(task, first, last, scratch.gathered.data());
    for (std::int64_t e = first; e < last; ++e) {
      const float* const z = scratch.gathered.data() + (e - first) * width;
      const double t = dot(z, row.y.data(), width);
      const double w = task.w[e];
      const double s = w - (task.c == nullptr ? 0.0 : static_cast<double>(task.c[e])) * t;
      explained += t * (w + s);
      for (std::int64_t k = 0; k < width; k += 8) {
        Wide sum;
        std::memcpy(&sum, sums + k, sizeof sum);
        sum += s * widened(z + k);
        std::memcpy(sums + k, &sum, sizeof sum);
      }
    }
  }
  return explained;
}

}  // namespace

RowKernels row_kernels() {
  return {simd::version<pass<true>>(), simd::version<begin>(), simd::version<pass<false>>(),
          simd::version<step>(), simd::version<residual>()};
}

}  // namespace poise
