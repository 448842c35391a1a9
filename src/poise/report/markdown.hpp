#pragma once

#include <functional>
#include <string>

#include "poise/report/table.hpp"

namespace poise {

/// tables.md, which the terminal also shows: the conclusions, the paper's table for each rank with the
/// paper's figures below ours, every row of each data set, the paired differences, the comparison with
/// popularity.
std::string study_markdown(const StudyResults& results);

namespace report {

/// The conclusions, and for each data set the sentence `best` about its best row, and its note: a list.
std::string markdown_findings(const StudyResults& results,
                              const std::function<std::string(const std::string& data)>& best);

/// The table of a rank.
std::string markdown_rank_table(const StudyResults& results, const StudyTable& table,
                                const RankColumns& with);

}  // namespace report

}  // namespace poise
