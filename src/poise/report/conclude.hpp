#pragma once

#include <vector>

#include "poise/study/results.hpp"

namespace poise {

/// What a study says, in plain sentences: for every data set and rank, whether weighting helps the model that
/// validation likes best there, by how much, and how many of the rank's models; first of all, where no model
/// is better than popularity, that.
std::vector<StudyConclusion> conclude(const StudyResults& results);

}  // namespace poise
