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
  const std::int64_t padded = (v.cols + score_lane - 1) / score_lane * score_lane;
  const Tiling tiling{z.rows, scored_users_per_tile};
  for_each_tile(tiling.tiles(), threads_, [&](std::int64_t tile) {
    const std::int64_t user = tiling.first(tile);
    const std::int64_t count = tiling.last(tile) - user;
    std::vector<double> users;
    padded_rows(z.host().block(user, count), padded, users);
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
