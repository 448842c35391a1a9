#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poise/evaluate/evaluate.hpp"

namespace poise {

/// The users on whom points are compared one by one: up to 1000 of them, evenly spread, enough to know the
/// variance of their differences to a few percent. They are in sixteen parts, each evenly spread itself, so
/// that a point can be judged by the first parts (search/race.hpp).
struct SampledUsers {
  std::vector<std::int64_t> users;  ///< part after part
  std::vector<std::size_t> ends;    ///< of each part
};
SampledUsers sampled_users(std::int64_t users);

/// The scores of a point on the sampled users, or on the first parts of them.
struct UserSample {
  std::int64_t users = 0;  ///< all users, not only the sampled ones
  /// By metric, in ten-thousandths: each user's value, in the order of the parts.
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> values = {};

  bool operator==(const UserSample&) const = default;

  /// A metric's values; empty if there are none.
  [[nodiscard]] std::span<const std::int32_t> of(std::string_view metric) const;
};
/// The unit of the values.
constexpr double sample_unit = 1e-4;

/// The values of the first `count` sampled users, who were measured.
UserSample sample_of(const EvaluationResult& evaluation, const SampledUsers& sampled, std::size_t count);

/// The standard error of the difference of two means over all users, from the first `most` sampled users that
/// both have. If there are no values to compare, the resolution of four digits.
double paired_error(const UserSample& a, const UserSample& b, std::string_view metric,
                    std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace poise
