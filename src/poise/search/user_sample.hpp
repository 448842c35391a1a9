#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poise/evaluate/evaluate.hpp"

namespace poise {

/// The users on whom points are compared one by one: up to 1000 of them, evenly spread, which tells the
/// spread of their differences to a few percent. In sixteen parts, each evenly spread itself, so that a point
/// can be judged by the first of them (search/race.hpp).
struct SampledUsers {
  std::vector<std::int64_t> users;  ///< part after part
  std::vector<std::size_t> ends;    ///< of the parts
};
SampledUsers sampled_users(std::int64_t users);

/// What a point scored on the sampled users, or on the first parts of them.
struct UserSample {
  std::int64_t users = 0;  ///< all of them, not only those of the sample
  /// By metric, in ten-thousandths: each user's value, in the order of the parts.
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> values = {};

  bool operator==(const UserSample&) const = default;

  /// A metric's values; empty where there are none.
  [[nodiscard]] std::span<const std::int32_t> of(std::string_view metric) const;
};
/// What values are multiples of.
constexpr double sample_unit = 1e-4;

/// Of the first `count` sampled users, who were measured.
UserSample sample_of(const EvaluationResult& evaluation, const SampledUsers& sampled, std::size_t count);

/// The standard error of the difference of two means over all users, from the sampled users that both have.
/// Where there are no values to compare (coverage is one number for all users), what four digits can tell.
double paired_error(const UserSample& a, const UserSample& b, std::string_view metric);

}  // namespace poise
