#pragma once

#include <map>
#include <string>
#include <vector>

#include "poise/study/results.hpp"
#include "poise/study/splits.hpp"

/// What the program and Python call: the findings of a study, or of a study over several splits, as sentences
/// and as files.
namespace poise {

/// The findings of a study in sentences: for every data set and rank, whether weighting helps the model that
/// is best on validation, by how much, and how many of the rank's models it helps. If no model is better than
/// popularity, that comes first.
std::vector<StudyConclusion> conclude(const StudyResults& results);

/// The findings over several splits in sentences: for every data set and rank whether weighting helps the
/// model that is best on validation, by how much on average, with what spread and in how many splits. An
/// effect is reported only if the interval over splits lies on one side of 0, and never for a single split.
std::vector<StudyConclusion> conclude(const SplitsResults& results);

/// All files of a study, by name: tables.md, tables.tex, results.csv, results.json and report.html.
std::map<std::string, std::string> study_files(const StudyResults& results);
std::map<std::string, std::string> splits_files(const SplitsResults& results);

/// report.html: one self-contained page. The conclusion first, then the tables (plain HTML, readable without
/// scripts), the plots (Vega, embedded), data and options. Its content security policy forbids every request.
std::string study_html(const StudyResults& results);

/// tables.md, tables.tex and report.html over splits. The page links to those of each split, in seed-N or
/// cut-N.
std::string splits_markdown(const SplitsResults& results);
std::string splits_latex(const SplitsResults& results);
std::string splits_html(const SplitsResults& results);

/// The folder of a split's own files: "seed-3", or "cut-3".
std::string folder_of_split(std::uint32_t seed, bool cut = false);

}  // namespace poise
