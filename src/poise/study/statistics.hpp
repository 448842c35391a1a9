#pragma once

#include <span>
#include <vector>

#include "poise/study/results.hpp"

namespace poise {

/// a - b over the same users: the mean, its 95 % interval and the p of a two-sided paired t test. If all
/// differences are equal, the interval is a point, and p is 1 if they are 0 and else 0. For a single user p =
/// 1 and the interval has no ends.
PairedDifference paired_difference(std::span<const double> a, std::span<const double> b);

/// Holm's step-down correction: the k-th smallest p (from 0) times (count - k), made non-decreasing, at most
/// 1.
std::vector<double> holm(std::span<const double> p);

}  // namespace poise
