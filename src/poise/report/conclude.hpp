#pragma once

#include <vector>

#include "poise/study/results.hpp"

namespace poise {

/// The findings of a study in sentences: for every data set and rank, whether weighting helps the model that
/// is best on validation, by how much, and how many of the rank's models it helps. If no model is better than
/// popularity, that comes first.
std::vector<StudyConclusion> conclude(const StudyResults& results);

}  // namespace poise
