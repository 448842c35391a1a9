#pragma once

#include <span>
#include <vector>

#include "poise/study/results.hpp"

namespace poise {

/// a - b over the same users: the mean, its 95 % interval and the p of a two-sided paired t test. Where all
/// differences are equal the interval is a point, and p is 1 if they are 0 and 0 if they are not; a single
/// user says nothing: p = 1 and an interval without ends.
PairedDifference paired_difference(std::span<const double> a, std::span<const double> b);

/// Holm's step-down correction: the k-th smallest p (from 0) times (count - k), never falling, at most 1.
std::vector<double> holm(std::span<const double> p);

}  // namespace poise
