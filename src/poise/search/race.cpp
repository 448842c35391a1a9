#include "poise/search/race.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "poise/search/user_sample.hpp"

namespace poise {
namespace {

constexpr double errors_behind = 4;
constexpr double share_behind = 0.002;
constexpr std::size_t least_users = 24;
/// A direction with less than this share of its scatter left adds no information.
constexpr double same_direction = 1e-6;

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void subtract(Vector& from, double factor, const Vector& what) {
  for (std::size_t k = 0; k < from.size(); ++k) from[k] -= factor * what[k];
}

/// A difference from the leader on the scored users, less its mean.
struct Difference {
  Vector centered;
  double mean = 0;
};

Difference difference_of(std::span<const std::int32_t> values, const Rival& leader, std::size_t count) {
  Difference difference{.centered = Vector(count)};
  for (std::size_t k = 0; k < count; ++k)
    difference.centered[k] = (values[k] - leader.values[k]) * sample_unit;
  difference.mean = std::accumulate(difference.centered.begin(), difference.centered.end(), 0.0) /
                    static_cast<double>(count);
  for (double& value : difference.centered) value -= difference.mean;
  return difference;
}

}  // namespace

Standing standing_of(std::span<const std::int32_t> values, const Race& race) {
  const std::size_t count = values.size();
  const auto n = static_cast<double>(count);
  auto [left, mean] = difference_of(values, race.leader, count);
  double leverage = 0;
  // One direction after the other, each orthogonal to those before it (Gram and Schmidt).
  struct Direction {
    Vector of_users;
    double beyond;  ///< D - d
    double scatter;
  };
  std::vector<Direction> directions;
  for (const Rival& each : race.alike) {
    auto [of_users, here] = difference_of(each.values, race.leader, count);
    double beyond = each.mean - race.leader.mean - here;
    const double all = dot(of_users, of_users);
    for (const Direction& known : directions) {
      const double factor = dot(of_users, known.of_users) / known.scatter;
      subtract(of_users, factor, known.of_users);
      beyond -= factor * known.beyond;
    }
    const double scatter = dot(of_users, of_users);
    if (!(scatter > same_direction * all)) continue;
    const double factor = dot(left, of_users) / scatter;
    subtract(left, factor, of_users);
    mean += factor * beyond;
    leverage += beyond * beyond / scatter;
    directions.push_back({std::move(of_users), beyond, scatter});
  }
  const double freedom = n - 1 - static_cast<double>(directions.size());
  const double variance = dot(left, left) / std::max(1.0, freedom);
  const double unseen = std::max(0.0, 1 - n / static_cast<double>(race.users));
  return {.mean = race.leader.mean + mean,
          .error = std::sqrt(variance * (unseen / n + leverage)),
          .users = static_cast<std::int64_t>(count)};
}

std::optional<Standing> lost(std::span<const std::int32_t> values, std::span<const std::size_t> ends,
                             const Race& race) {
  const std::size_t first = std::max(least_users, static_cast<std::size_t>(race.least));
  for (const std::size_t end : ends) {
    if (end < first || end >= static_cast<std::size_t>(race.users)) continue;
    if (end > values.size()) break;
    const Standing standing = standing_of(values.first(end), race);
    const double behind = race.leader.mean - standing.mean;
    if (behind > errors_behind * standing.error + share_behind * std::abs(race.leader.mean)) return standing;
  }
  return {};
}

}  // namespace poise
