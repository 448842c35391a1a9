#include "poise/model/factor_scores.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <vector>

#include "poise/linalg/simd.hpp"

namespace poise {
namespace {

constexpr std::int64_t lane = 8;
using Lane [[gnu::vector_size(lane * sizeof(double))]] = double;

/// Items converted to float64 at a time: at rank 1000 they stay in the second-level cache while all users
/// pass by.
constexpr std::int64_t items_per_tile = 32;
constexpr std::int64_t users_at_once = 4;

POISE_INLINE float lane_total(const Lane& sums) {
  return static_cast<float>(((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                            ((sums[4] + sums[5]) + (sums[6] + sums[7])));
}

/// Scores of `users` rows of Z (padded to whole lanes, as v is) for one item.
template <int users>
POISE_INLINE void score_item(const double* z, const double* v, std::int64_t padded, float* scores,
                             std::int64_t stride) {
  Lane sums[users] = {};
  for (std::int64_t k = 0; k < padded; k += lane) {
    Lane right;
    std::memcpy(&right, v + k, sizeof right);
    for (int u = 0; u < users; ++u) {
      Lane left;
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
    for (; u + users_at_once <= z.rows; u += users_at_once)
      score_item<users_at_once>(z.row(u).data(), item, z.stride, &scores(u, first + i), scores.stride);
    for (; u < z.rows; ++u) score_item<1>(z.row(u).data(), item, z.stride, &scores(u, first + i), 0);
  }
}

template <class T>
void pad(MatrixView<const T> from, std::int64_t padded, std::vector<double>& to) {
  to.assign(from.rows * padded, 0.0);
  for (std::int64_t r = 0; r < from.rows; ++r) std::ranges::copy(from.row(r), to.begin() + r * padded);
}

}  // namespace

void factor_scores(MatrixView<const double> Z, MatrixView<const float> V, MatrixView<float> scores) {
  assert(Z.cols == V.cols && scores.rows == Z.rows && scores.cols == V.rows);
  const auto version = simd::version<score_tile>();
  const std::int64_t padded = (V.cols + lane - 1) / lane * lane;
  std::vector<double> users;
  pad(Z, padded, users);
  std::vector<double> items;
  for (std::int64_t first = 0; first < V.rows; first += items_per_tile) {
    const std::int64_t count = std::min(items_per_tile, V.rows - first);
    pad(V.block(first, count), padded, items);
    version({users.data(), Z.rows, padded, padded}, {items.data(), count, padded, padded}, first, scores);
  }
}

}  // namespace poise
