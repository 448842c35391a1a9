#pragma once

#include <vector>

#include "poise/study/splits.hpp"

namespace poise::test {

/// A study of one split: EASE without weights, with them at this alpha, and popularity at 0.1; test and
/// validation figures are the same.
StudyResults one_split(double unweighted, double weighted, double alpha);

/// The splits of these figures by the seeds 1, 2, ..., with alphas of 2, 4, 8, ...
SplitsResults sample_splits(const std::vector<double>& unweighted, const std::vector<double>& weighted);

}  // namespace poise::test
