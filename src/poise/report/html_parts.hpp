#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poise/report/table.hpp"

/// The parts of the pages of a study and of several splits.
namespace poise::report {

/// Any text as HTML text or attribute value.
std::string html_text(std::string_view text);

/// A page up to its body; `policy` is its Content-Security-Policy, `title` any text.
std::string html_head(std::string_view policy, const std::string& title);

std::string html_section(std::string_view id, const std::string& heading, const std::string& body);

/// The conclusions of each data set, and the additions of `more`, as list items.
std::string html_findings(const StudyResults& results,
                          const std::function<std::string(const StudyData& data)>& more);

/// The options, the additions of `more` (names and texts), the time and the version.
std::string html_options(const StudyResults& results,
                         const std::vector<std::pair<std::string, std::string>>& more);

/// A wide table scrolls separately, also by keyboard; the page's script says so if the table does not fit.
std::string scrolled(const std::string& table, const std::string& name);

std::string number_cell(const std::string& text, const std::string& attributes = {});

/// The heading of a column of numbers.
std::string number_head(const std::string& text);

/// "(0.376 ±0.002 ↑)" without spaces, each part in an element of its own; empty if nothing was measured.
std::string estimate_html(const TableCell& cell);

/// A row's kind, and its state if it is not finished.
std::string kind_cell(const StudyModel& model, RowKind kind, const std::string& state = {});

/// A group's name, beside all its rows.
std::string model_cell(const TableGroup& group);

/// The table of a rank. `heads` are those beside the metrics', `cells` all cells of an entry.
struct HtmlRankTable {
  std::vector<std::string> heads;
  std::function<std::string(const TableGroup& group, const TableEntry& entry)> cells;
  std::function<std::string(const StudyData& data)> beside_name = {};
  bool wins = false;
};
std::string html_rank_table(const StudyResults& results, const RankTable& rank, const HtmlRankTable& with);

/// The first cells of a line about a model's pair, and their headings.
std::string pair_cells(const StudyModel& model, RowKind kind);
std::string_view pair_heads();

/// Begins the section of a table about one data set. Its name may be long, so it has its own line instead of
/// a column.
std::string data_line(const std::string& data, std::size_t columns);

/// " helps", " hurts" or nothing: a class of a cell with a difference.
std::string_view direction_class(const StudyPair& pair);

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

/// The data of a study that the plots need, as JSON that may stand inside a script element.
std::string page_data(const StudyResults& results);

}  // namespace poise::report
