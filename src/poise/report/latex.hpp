#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "poise/report/table.hpp"

namespace poise {

/// tables.tex: a document of its own that pdflatex compiles with booktabs and graphicx, one table for each
/// rank as the paper prints it and one for each data set with every row.
std::string study_latex(const StudyResults& results);

namespace report {

/// The beginning of a document, up to \begin{document}.
std::string_view latex_preamble();

/// The conclusions, and for each data set the sentence `best` about its best row, and its note.
std::string latex_findings(const StudyResults& results,
                           const std::function<std::string(const std::string& data)>& best);

/// The table of a rank under its caption.
std::string latex_rank_table(const StudyResults& results, const StudyTable& table, const RankColumns& with,
                             const std::string& caption);

/// A table that is at most as wide as the page; `columns` as in tabular.
std::string latex_table(const std::string& caption, const std::string& columns, const std::string& body);

/// Any text as LaTeX that pdflatex accepts: special characters escaped, characters that its fonts lack as
/// [U+4E2D], bytes that are not UTF-8 as [xFF].
std::string latex_text(std::string_view text);

}  // namespace report

}  // namespace poise
