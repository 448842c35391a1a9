#pragma once

#include <map>
#include <string>

#include "poise/study/results.hpp"

namespace poise {

/// All files of a study, by name: tables.md, tables.tex, results.csv, results.json and report.html.
std::map<std::string, std::string> study_files(const StudyResults& results);

}  // namespace poise
