#pragma once

#include <string>

#include "poise/study/results.hpp"

namespace poise {

/// tables.md, which is also what a terminal shows: the conclusions, the paper's table for each rank with the
/// paper's figures under ours, every row of each data set, the paired differences, the comparison with
/// popularity.
std::string study_markdown(const StudyResults& results);

}  // namespace poise
