#pragma once

#include <string>

#include "poise/study/results.hpp"

/// What the rows' lists show, beyond their accuracy: does weighting change what is recommended?
namespace poise::report {

/// Whether any row was measured so.
bool has_beyond(const StudyResults& results);

/// In how many comparisons each metric is measurably higher or lower with weights; empty without any.
std::string beyond_finding(const StudyResults& results);

/// What the columns are, and what the arrows claim.
std::string beyond_terms();

/// One table for each data set. In HTML a cell with a paired test names it (data-beyond-pair: the place in
/// results.json), below the row's figures.
std::string beyond_markdown(const StudyResults& results);
std::string beyond_latex(const StudyResults& results);
std::string beyond_html(const StudyResults& results);

}  // namespace poise::report
