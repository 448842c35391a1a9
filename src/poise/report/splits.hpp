#pragma once

#include <map>
#include <string>
#include <vector>

#include "poise/study/splits.hpp"

namespace poise {

/// The findings over several splits in sentences: for every data set and rank whether weighting helps the
/// model that is best on validation, by how much on average, with what spread and in how many splits. An
/// effect is reported only if the interval over splits lies on one side of 0, and never for a single split.
std::vector<StudyConclusion> conclude(const SplitsResults& results);

/// tables.md, tables.tex and report.html over splits. The page links to those of each split, in seed-N.
std::string splits_markdown(const SplitsResults& results);
std::string splits_latex(const SplitsResults& results);
std::string splits_html(const SplitsResults& results);

/// The files of a study over splits, by name, as in study_files().
std::map<std::string, std::string> splits_files(const SplitsResults& results);

/// The folder of a split's own files: "seed-3".
std::string folder_of_split(std::uint32_t seed);

}  // namespace poise
