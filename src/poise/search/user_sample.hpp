#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poise/evaluate/evaluate.hpp"

namespace poise {

/// What a point scored on some of the users, so that two points can be compared user by user: up to 1000
/// users, evenly spread, which tells the spread of their differences to a few percent.
struct UserSample {
  std::int64_t users = 0;  ///< all of them, not only those of the sample
  /// By metric, in ten-thousandths: each user's value.
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> values = {};

  bool operator==(const UserSample&) const = default;
};

UserSample sample_of(const EvaluationResult& evaluation);

/// The standard error of the difference of two means over all users. Where there are no values to compare
/// (coverage is one number for all users), what four digits can tell.
double paired_error(const UserSample& a, const UserSample& b, std::string_view metric);

}  // namespace poise
