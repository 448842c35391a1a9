#include "poise/search/user_sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace poise {
namespace {

constexpr std::int64_t most_users = 1000;
constexpr double largest = std::numeric_limits<std::int32_t>::max();
constexpr double untold = 4e-4;
/// A part takes every sixteenth user from one of these; the first parts together are always spread evenly.
constexpr std::array<std::int64_t, 16> part_begins = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};

}  // namespace

SampledUsers sampled_users(std::int64_t users) {
  const std::int64_t taken = std::min(users, most_users);
  SampledUsers sampled;
  for (const std::int64_t begin : part_begins) {
    for (std::int64_t k = begin; k < taken; k += std::ssize(part_begins))
      sampled.users.push_back(k * users / taken);
    sampled.ends.push_back(sampled.users.size());
  }
  return sampled;
}

std::span<const std::int32_t> UserSample::of(std::string_view metric) const {
  const auto found = std::ranges::find(values, metric, [](const auto& each) { return each.first; });
  return found == values.end() ? std::span<const std::int32_t>() : found->second;
}

UserSample sample_of(const EvaluationResult& evaluation, const SampledUsers& sampled, std::size_t count) {
  UserSample sample{.users = evaluation.users};
  for (std::size_t column = 0; column < evaluation.per_user_metrics.size(); ++column) {
    std::vector<std::int32_t> values(count);
    for (std::size_t k = 0; k < count; ++k) {
      const double value = evaluation.per_user(sampled.users[k], static_cast<std::int64_t>(column));
      // Only what counts users, e.g. popularity, can be as large as that.
      values[k] = static_cast<std::int32_t>(std::llround(std::clamp(value / sample_unit, -largest, largest)));
    }
    sample.values.emplace_back(to_string(evaluation.per_user_metrics[column]), std::move(values));
  }
  return sample;
}

double paired_error(const UserSample& a, const UserSample& b, std::string_view metric, std::size_t most) {
  const std::span<const std::int32_t> x = a.of(metric);
  const std::span<const std::int32_t> y = b.of(metric);
  const std::size_t both = std::min({x.size(), y.size(), most});
  if (both == 0) return untold;
  const auto count = static_cast<double>(both);
  double sum = 0;
  double squares = 0;
  for (std::size_t k = 0; k < both; ++k) {
    const double difference = (x[k] - y[k]) * sample_unit;
    sum += difference;
    squares += difference * difference;
  }
  const double variance = std::max(0.0, squares / count - (sum / count) * (sum / count));
  return std::sqrt(variance / static_cast<double>(a.users));
}

}  // namespace poise
