#pragma once

#include <optional>
#include <span>
#include <vector>

#include "poise/study/results.hpp"

namespace poise {

/// The 95 % interval and the two-sided p of a mean of `count` differences by Student's t; `error` is the
/// mean's standard error. Where it is 0 the interval is a point, and p is 1 if the mean is 0 and 0 if it is
/// not. One difference, which has no error, says nothing: p = 1 and an interval without ends.
PairedDifference mean_difference(double mean, std::int64_t count, const std::optional<double>& error);

/// a - b over the same users: the paired t test.
PairedDifference paired_difference(std::span<const double> a, std::span<const double> b);

/// Holm's step-down correction: the k-th smallest p (from 0) times (count - k), made non-decreasing, at most
/// 1.
std::vector<double> holm(std::span<const double> p);

}  // namespace poise
