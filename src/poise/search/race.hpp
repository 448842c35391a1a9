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

/// Whom a point has to beat, and points that are like it.
struct Race {
  std::int64_t users = 0;
  Rival leader;
  std::vector<Rival> alike = {};
  std::int64_t least = 0;  ///< users before whom nobody is out
};

/// What the users that were scored say of a point's mean over all users.
struct Standing {
  double mean = 0;
  double error = 0;        ///< its standard error, users being drawn from those there are
  std::int64_t users = 0;  ///< who were scored
};

/// A point's mean over all N users, from its values on the first n sampled ones: its difference from the
/// leader is regressed on the differences of the points alike, whose means over all users are known,
///
///     mean = leader + y + w'(D - d),    variance = s^2 ((1 - n/N) / n + (D - d)' S^-1 (D - d)),
///
/// y and d the means of the differences over the n users, D over all N, w the coefficients, S the scatter of
/// the differences of those alike, s^2 the variance of what the regression leaves. Because the n users are
/// among the N, nothing is left to err about as n comes near N.
Standing standing_of(std::span<const std::int32_t> values, const Race& race);

/// Whether a point with these values on the first sampled users, judged after each of the parts that end at
/// `ends`, is out of the race, and how it stood then: 3 standard errors and 0.2 percent behind the leader.
std::optional<Standing> lost(std::span<const std::int32_t> values, std::span<const std::size_t> ends,
                             const Race& race);

}  // namespace poise
