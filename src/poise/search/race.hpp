#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace poise {

/// A point that was scored on all users: its mean over them, and its values on the sampled ones
/// (search/user_sample.hpp).
struct Rival {
  double mean = 0;
  std::span<const std::int32_t> values;
};

/// The point to beat, and points that are similar.
struct Race {
  std::int64_t users = 0;
  Rival leader;
  std::vector<Rival> alike = {};
  std::int64_t least = 0;  ///< no point is cut before so many users
};

/// The estimate of a point's mean over all users, from the users that were scored.
struct Standing {
  double mean = 0;
  double error = 0;        ///< its standard error; the scored users are a sample of all users
  std::int64_t users = 0;  ///< how many were scored
};

/// A point's mean over all N users, from its values on the first n sampled ones: its difference from the
/// leader is regressed on the differences of similar points, whose means over all users are known,
///
///     mean = leader + y + w'(D - d),    variance = s^2 ((1 - n/N) / n + (D - d)' S^-1 (D - d)),
///
/// y and d are the means of the differences over the n users, D those over all N, w the coefficients, S the
/// scatter of the similar points' differences, s^2 the variance of the regression's residual. Because the n
/// users are among the N, the variance vanishes as n approaches N.
Standing standing_of(std::span<const std::int32_t> values, const Race& race);

/// Whether a point with these values on the first sampled users loses the race, and its standing then. It is
/// tested after each of the parts that end at `ends`: it loses if it is 4 standard errors and 0.2 percent
/// behind the leader.
std::optional<Standing> lost(std::span<const std::int32_t> values, std::span<const std::size_t> ends,
                             const Race& race);

}  // namespace poise
