#pragma once

#include <map>
#include <string>

#include "poise/study/results.hpp"

namespace poise {

/// Everything that a study writes, by file name: tables.md, tables.tex, results.csv, results.json and
/// report.html.
std::map<std::string, std::string> study_files(const StudyResults& results);

}  // namespace poise
