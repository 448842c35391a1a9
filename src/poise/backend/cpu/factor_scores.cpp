#include <algorithm>
#include <cassert>
#include <cstring>
#include <vector>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/simd.hpp"

namespace poise {
namespace {

constexpr std::int64_t score_lane = 8;
using ScoreLane [[gnu::vector_size(score_lane * sizeof(double))]] = double;

/// Items converted to float64 at a time: at rank 1000 they stay in the second-level cache for all users of a
/// tile.
constexpr std::int64_t scored_items = 32;
constexpr std::int64_t scored_users_per_tile = 64;
constexpr std::int64_t scored_users = 4;

POISE_INLINE float lane_total(const ScoreLane& sums) {
  return static_cast<float>(((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                            ((sums[4] + sums[5]) + (sums[6] + sums[7])));
}

/// Scores of `users` rows of Z (padded to whole lanes, as v is) for one item.
template <int users>
POISE_INLINE void score_item(const double* z, const double* v, std::int64_t padded, float* scores,
                             std::int64_t stride) {
  ScoreLane sums[users] = {};
  for (std::int64_t k = 0; k < padded; k += score_lane) {
    ScoreLane right;
    std::memcpy(&right, v + k, sizeof right);
    for (int u = 0; u < users; ++u) {
      ScoreLane left;
      std::memcpy(&left, z + u * padded + k, sizeof left);
      sums[u] += left * right;
    }
  }
  for (int u = 0; u < users; ++u) scores[u * stride] = lane_total(sums[u]);
}

POISE_INLINE void score_tile(MatrixView<const double> z, MatrixView<const double> v, std::int64_t first,
                             MatrixView<float> scores) {
  for (std::int64_t i = 0; i < v.rows; ++i) {
    const double* const item = v.row(i).data();
    std::int64_t u = 0;
    for (; u + scored_users <= z.rows; u += scored_users)
      score_item<scored_users>(z.row(u).data(), item, z.stride, &scores(u, first + i), scores.stride);
    for (; u < z.rows; ++u) score_item<1>(z.row(u).data(), item, z.stride, &scores(u, first + i), 0);
  }
}

/// Items that one user's scores are computed for side by side, so that sums do not wait for each other.
constexpr std::int64_t items_at_once = 4;

/// Rows between a row that is read and the one that is fetched meanwhile.
constexpr std::int64_t prefetched_rows = 16;

/// sum += left * v, v being a lane of float32, or zeros behind its first `count`.
POISE_INLINE void add_product(const ScoreLane& left, const float* v, std::int64_t count, ScoreLane& sum) {
  using Narrow [[gnu::vector_size(score_lane * sizeof(float))]] = float;
  Narrow part = {};
  if (count == score_lane) {
    std::memcpy(&part, v, sizeof part);
  } else {
    std::memcpy(&part, v, count * sizeof(float));
  }
  sum += left * __builtin_convertvector(part, ScoreLane);
}

/// Scores of one user for `items` rows of V, which is read once and in place: the same products and sums as
/// in score_item, so the same bits.
template <int items>
POISE_INLINE void score_in_place(const double* z, MatrixView<const float> v, std::int64_t first,
                                 float* scores) {
  ScoreLane sums[items] = {};
  const std::int64_t whole = v.cols / score_lane * score_lane;
  for (std::int64_t k = 0; k < whole; k += score_lane) {
    ScoreLane left;
    std::memcpy(&left, z + k, sizeof left);
    for (int i = 0; i < items; ++i) {
      const float* const row = v.data + (first + i) * v.stride + k;
      __builtin_prefetch(row + prefetched_rows * v.stride);  // past the end it does nothing
      add_product(left, row, score_lane, sums[i]);
    }
  }
  if (whole < v.cols) {
    ScoreLane left;
    std::memcpy(&left, z + whole, sizeof left);
    for (int i = 0; i < items; ++i)
      add_product(left, v.data + (first + i) * v.stride + whole, v.cols - whole, sums[i]);
  }
  for (int i = 0; i < items; ++i) scores[i] = lane_total(sums[i]);
}

/// All items for each of a few users.
POISE_INLINE void score_few(MatrixView<const double> z, MatrixView<const float> v, MatrixView<float> scores) {
  for (std::int64_t u = 0; u < z.rows; ++u) {
    const double* const user = z.row(u).data();
    std::int64_t i = 0;
    for (; i + items_at_once <= v.rows; i += items_at_once)
      score_in_place<items_at_once>(user, v, i, &scores(u, i));
    for (; i < v.rows; ++i) score_in_place<1>(user, v, i, &scores(u, i));
  }
}

/// In float64, with zeros up to whole lanes.
void padded_rows(MatrixView<const float> from, std::int64_t padded, std::vector<double>& to) {
  to.assign(from.rows * padded, 0.0);
  for (std::int64_t r = 0; r < from.rows; ++r) std::ranges::copy(from.row(r), to.begin() + r * padded);
}

}  // namespace

/// In float64 and rounded once.
void CpuBackend::factor_scores(In<float> z, In<float> v, Out<float> y) {
  assert(z.cols == v.cols && y.rows == z.rows && y.cols == v.rows);
  const auto version = simd::version<score_tile>();
  const auto few = simd::version<score_few>();
  const std::int64_t padded = (v.cols + score_lane - 1) / score_lane * score_lane;
  const Tiling tiling{z.rows, scored_users_per_tile};
  for_each_tile(tiling.tiles(), threads_, [&](std::int64_t tile) {
    const std::int64_t user = tiling.first(tile);
    const std::int64_t count = tiling.last(tile) - user;
    std::vector<double> users;
    padded_rows(z.host().block(user, count), padded, users);
    // Converting V pays where several users share it.
    if (count < scored_users)
      return few({users.data(), count, padded, padded}, v.host(), y.host().block(user, count));
    std::vector<double> items;
    for (std::int64_t item = 0; item < v.rows; item += scored_items) {
      const std::int64_t some = std::min(scored_items, v.rows - item);
      padded_rows(v.host().block(item, some), padded, items);
      version({users.data(), count, padded, padded}, {items.data(), some, padded, padded}, item,
              y.host().block(user, count));
    }
  });
}

}  // namespace poise
