#pragma once

#include <string>
#include <string_view>

#include "poise/study/results.hpp"

/// The parts that html.cpp puts together.
namespace poise::report {

/// Any text as HTML text or attribute value.
std::string html_text(std::string_view text);

/// One table for each rank, the paper's figures under ours. A cell names its row and metric in results.json
/// (data-row, data-metric).
std::string rank_tables_html(const StudyResults& results);

/// One table for each data set: every row with its point and certificate (data-row, data-field), and its
/// comparison with popularity (data-comparison).
std::string data_tables_html(const StudyResults& results);

/// Weighted less unweighted for every metric, with interval and p (data-pair: the place in results.json).
std::string pairs_html(const StudyResults& results);

/// The data sets (data-set).
std::string data_summary_html(const StudyResults& results);

/// What the plots need of a study, and no more, as JSON that may stand inside a script element.
std::string page_data(const StudyResults& results);

}  // namespace poise::report
