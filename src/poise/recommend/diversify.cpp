#include "poise/recommend/diversify.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "poise/base/error.hpp"
#include "poise/linalg/vector.hpp"

namespace poise {
namespace {

constexpr std::int64_t least_pool = 100;
constexpr std::int64_t most_pool = 1000;

/// 0 where all scores are equal, or one of them is infinite.
std::vector<double> relevance_of(std::span<const float> scores) {
  std::vector<double> relevance(scores.size(), 0.0);
  const double worst = scores.back();
  const double range = static_cast<double>(scores.front()) - worst;
  if (!(range > 0) || !std::isfinite(range)) return relevance;
  for (std::size_t i = 0; i < scores.size(); ++i) relevance[i] = (scores[i] - worst) / range;
  return relevance;
}

}  // namespace

Diversifier::Diversifier(const Scorer& scorer, double L, std::int64_t width)
    : scorer_(scorer), L_(L), width_(width) {
  if (!(L >= 0 && L <= 1)) fail(ErrorKind::usage, "{} is {}: it is from 0 to 1", "diversify"_p, L);
  if (L == 0 || width == 0) return;
  if (width > most_pool)
    fail(ErrorKind::usage, "{} orders lists of at most {} items, and {} are asked for: ask for fewer",
         "diversify"_p, most_pool, width);
  // A model without similar items says so before any work.
  const std::array<std::int32_t, 1> item = {0};
  Matrix<float> near(1, 1);
  scorer.similarities(item, near.view());
}

std::int64_t Diversifier::pool() const {
  if (L_ == 0) return width_;
  return std::min(scorer_.items(), std::clamp(5 * width_, least_pool, most_pool));
}

Matrix<float> Diversifier::likeness(std::span<const std::int32_t> items) const {
  const auto size = std::ssize(items);
  Matrix<float> near(size, size);
  scorer_.similarities(items, near.view());
  float largest = 0;
  for (std::int64_t a = 0; a < size; ++a) {
    for (std::int64_t b = 0; b < a; ++b) {
      near(a, b) = near(b, a) = std::max(0.0F, (near(a, b) + near(b, a)) / 2);
      largest = std::max(largest, near(a, b));
    }
  }
  if (!(largest > 0)) return {size, size};
  for (std::int64_t a = 0; a < size; ++a) {
    for (float& each : near.row(a)) each /= largest;
  }
  return near;
}

std::vector<std::int32_t> Diversifier::order(std::span<const std::int32_t> items,
                                             std::span<const float> scores) const {
  const auto count = std::min(std::ssize(items), width_);
  if (L_ == 0 || count == 0) return numbers_from(0, count);
  const std::vector<double> relevance = relevance_of(scores);
  const Matrix<float> alike = likeness(items);
  std::vector<double> nearest(items.size(), 0.0);  // the likeness of each to those that were taken
  std::vector<std::int32_t> left = numbers_from(0, std::ssize(items));
  std::vector<std::int32_t> taken;
  while (std::ssize(taken) < count) {
    std::size_t best = 0;
    double highest = 0;
    for (std::size_t k = 0; k < left.size(); ++k) {
      const double value = (1 - L_) * relevance[left[k]] - L_ * nearest[left[k]];
      if (k > 0 && !(value > highest)) continue;
      best = k;
      highest = value;
    }
    const std::int32_t chosen = left[best];
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
    taken.push_back(chosen);
    for (const std::int32_t other : left)
      nearest[other] = std::max(nearest[other], static_cast<double>(alike(chosen, other)));
  }
  return taken;
}

}  // namespace poise
