#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "poise/evaluate/user_ranking.hpp"
#include "poise/linalg/simd.hpp"

namespace poise {
namespace {

/// With more targets the scores are sorted, which costs about as much as so many passes over them.
constexpr std::size_t many_targets = 256;

/// Items above a score, and items with exactly this score, itself included.
struct Standing {
  std::int64_t above = 0;
  std::int64_t equal = 0;
};

POISE_INLINE void count_scores(const float* scores, std::int64_t count, float score, Standing* standing) {
  std::int32_t above = 0;  // a catalogue has less than 2^31 items
  std::int32_t equal = 0;
#pragma omp simd reduction(+ : above, equal)
  for (std::int64_t i = 0; i < count; ++i) {
    above += static_cast<std::int32_t>(scores[i] > score);
    equal += static_cast<std::int32_t>(scores[i] == score);
  }
  *standing = {above, equal};
}

Standing in_sorted(std::span<const float> descending, float score) {
  const auto [first, last] = std::equal_range(descending.begin(), descending.end(), score, std::greater<>());
  return {first - descending.begin(), last - first};
}

}  // namespace

/// With N candidates, T of them targets, the sum over targets of (candidates below + half of its equals,
/// itself included) counts each pair of targets once and each target with itself a half: T^2 / 2 too much.
double area_under_curve(const UserRanking& ranking) {
  static const auto standing_among = simd::version<count_scores>();
  std::vector<float> of_known;
  for (const std::int32_t item : ranking.known) of_known.push_back(ranking.scores[item]);
  std::ranges::sort(of_known, std::greater<>());
  std::vector<float> sorted;
  if (ranking.targets.size() > many_targets) {
    sorted.assign(ranking.scores.begin(), ranking.scores.end());
    std::ranges::sort(sorted, std::greater<>());
  }
  const auto candidates = std::ssize(ranking.scores) - std::ssize(ranking.known);
  double below = 0;
  double found = 0;
  for (const std::int32_t target : ranking.targets) {
    if (std::ranges::binary_search(ranking.known, target)) continue;
    const float score = ranking.scores[target];
    Standing all;
    if (sorted.empty())
      standing_among(ranking.scores.data(), std::ssize(ranking.scores), score, &all);
    else
      all = in_sorted(sorted, score);
    const Standing known = in_sorted(of_known, score);
    below += static_cast<double>(candidates - (all.above - known.above)) -
             static_cast<double>(all.equal - known.equal) / 2;
    ++found;
  }
  const auto targets = static_cast<double>(ranking.targets.size());
  const double others = static_cast<double>(candidates) - found;
  return others > 0 ? (below - found * found / 2) / (others * targets) : found / targets;
}

}  // namespace poise
