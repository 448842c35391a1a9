#include "poise/report/beyond.hpp"

#include <algorithm>
#include <vector>

#include <fmt/ranges.h>

#include "poise/report/html_parts.hpp"
#include "poise/report/latex.hpp"
#include "poise/report/pipe_table.hpp"
#include "poise/report/table.hpp"
#include "poise/report/text.hpp"
#include "poise/study/statistics.hpp"

namespace poise::report {

namespace {

std::vector<std::string> metric_texts() {
  std::vector<std::string> names;
  for (const Metric& metric : beyond_accuracy_metrics()) names.push_back(to_string(metric));
  return names;
}

/// One metric of one row.
struct BeyondCell {
  const Estimate* estimate = nullptr;
  const StudyPair* pair = nullptr;  ///< against the unweighted row

  [[nodiscard]] std::string value() const {
    return estimate == nullptr ? "" : fmt::format("{:.4g}", estimate->mean);
  }
  [[nodiscard]] int direction() const { return pair == nullptr ? 0 : report::direction(*pair); }
};

BeyondCell cell_of(const StudyResults& results, const StudyRow& row, const std::string& metric) {
  BeyondCell cell{.estimate = find(row.beyond, metric)};
  const auto found = std::ranges::find_if(results.beyond_pairs, [&](const StudyPair& pair) {
    return pair.metric == metric && static_cast<const RowName&>(pair) == static_cast<const RowName&>(row);
  });
  if (found != results.beyond_pairs.end()) cell.pair = &*found;
  return cell;
}

/// The rows of a data set that were measured, in the order of its table: body(group, row, first of a model).
template <class Body>
void each_row(const StudyTable& table, const Body& body) {
  for (const TableGroup& group : table.groups) {
    bool first = true;
    for (const TableRow& line : group.rows) {
      const StudyRow* const row = line.entries[0].row;
      if (row == nullptr || row->beyond.empty()) continue;
      body(group, *row, first);
      first = false;
    }
  }
}

std::string html_cell(const StudyResults& results, const BeyondCell& cell) {
  if (cell.pair == nullptr) return number_cell(fmt::format("<span class=\"value\">{}</span>", cell.value()));
  const PairedDifference& test = cell.pair->test;
  const int found = cell.direction();
  return number_cell(
      fmt::format("<span class=\"value\">{}</span><span class=\"mark\">{}</span><span "
                  "class=\"interval\">{:+.3g}, {}</span>",
                  cell.value(),
                  found == 0  ? ""
                  : found > 0 ? "↑"
                              : "↓",
                  test.difference, cell.pair->complete ? html_text(p_text(test.p)) : "search not complete"),
      fmt::format("data-beyond-pair=\"{}\"", cell.pair - results.beyond_pairs.data()));
}

}  // namespace

bool has_beyond(const StudyResults& results) {
  return std::ranges::any_of(results.rows, [](const StudyRow& row) { return !row.beyond.empty(); });
}

std::string beyond_finding(const StudyResults& results) {
  std::vector<const StudyPair*> pairs;
  std::vector<double> p;
  for (const StudyPair& pair : results.beyond_pairs) {
    if (pair.kind != RowKind::weighted || !pair.complete) continue;
    pairs.push_back(&pair);
    p.push_back(pair.test.p);
  }
  if (pairs.empty()) return "";
  const std::vector<double> corrected = holm(p);
  std::vector<std::string> changes;
  for (const std::string& metric : metric_texts()) {
    int higher = 0;
    int lower = 0;
    int all = 0;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      if (pairs[k]->metric != metric) continue;
      ++all;
      if (corrected[k] < significant) ++(pairs[k]->test.difference > 0 ? higher : lower);
    }
    if (higher + lower > 0)
      changes.push_back(fmt::format("{} is higher in {} and lower in {} of {}", metric_name(metric),
                                    count_or_none(higher), count_or_none(lower), all));
  }
  if (changes.empty())
    return fmt::format("Weighting makes no measurable difference to what is shown in {} comparisons",
                       pairs.size());
  return fmt::format(
      "Weighting changes what is shown: {} (paired t tests, p < 0.05 after Holm's correction for {} "
      "comparisons)",
      fmt::join(changes, "; "), pairs.size());
}

std::string beyond_terms() {
  return "Coverage, Gini and entropy say how the catalogue's items share all users' lists; popularity "
         "(training users of a listed item), tail share, novelty (bits), diversity and calibration (distance "
         "from the history, lower is nearer) are means over the test users. An arrow: measurably higher or "
         "lower than the unweighted row (paired t test, p < 0.05, not corrected for the number of cells), "
         "which says that the lists differ, not that they are better. The first three are one number for "
         "all users, so that nothing is tested.";
}

std::string beyond_markdown(const StudyResults& results) {
  const std::vector<std::string> metrics = metric_texts();
  std::string text;
  for (const StudyTable& table : tables_by_data(results)) {
    PipeTable lines("rll" + std::string(metrics.size(), 'r'));
    std::vector<std::string> heads = {"Rank", "Model", ""};
    for (const std::string& metric : metrics) heads.push_back(metric_name(metric));
    lines.add(heads);
    each_row(table, [&](const TableGroup& group, const StudyRow& row, bool first) {
      std::vector<std::string> cells = {rank_number(group.model),
                                        first ? markdown_text(numbered_name(group.model)) : "",
                                        kind_name(group.model, row.kind)};
      for (const std::string& metric : metrics) {
        const BeyondCell cell = cell_of(results, row, metric);
        const int found = cell.direction();
        cells.push_back(cell.value() + (found == 0 ? "" : found > 0 ? " ↑" : " ↓"));
      }
      lines.add(std::move(cells));
    });
    text += fmt::format("### {}\n\n{}\n", markdown_text(table.data[0]->name), lines.text());
  }
  return text;
}

std::string beyond_latex(const StudyResults& results) {
  const std::vector<std::string> metrics = metric_texts();
  std::string text;
  for (const StudyTable& table : tables_by_data(results)) {
    std::string body = "Rank & Model & ";
    for (const std::string& metric : metrics) body += " & " + latex_text(metric_name(metric));
    body += " \\\\\n\\midrule\n";
    each_row(table, [&](const TableGroup& group, const StudyRow& row, bool first) {
      body +=
          fmt::format("{} & {} & {}", first ? rank_number(group.model) : "",
                      first ? latex_text(numbered_name(group.model)) : "", kind_name(group.model, row.kind));
      for (const std::string& metric : metrics) {
        const BeyondCell cell = cell_of(results, row, metric);
        const int found = cell.direction();
        body += " & " + cell.value() + (found == 0 ? "" : found > 0 ? " $\\uparrow$" : " $\\downarrow$");
      }
      body += " \\\\\n";
    });
    text += latex_table(fmt::format("What is recommended on {}.", latex_text(table.data[0]->name)),
                        "rll" + std::string(metrics.size(), 'r'), body);
  }
  return text;
}

std::string beyond_html(const StudyResults& results) {
  const std::vector<std::string> metrics = metric_texts();
  std::string text = fmt::format("<table class=\"beyond\"><thead><tr>{}", pair_heads());
  for (const std::string& metric : metrics) text += number_head(html_text(metric_name(metric)));
  text += "</tr></thead>\n";
  for (const StudyTable& table : tables_by_data(results)) {
    text += data_line(table.data[0]->name, 3 + metrics.size());
    each_row(table, [&](const TableGroup& group, const StudyRow& row, bool /*first*/) {
      text += "<tr>" + pair_cells(group.model, row.kind);
      for (const std::string& metric : metrics) text += html_cell(results, cell_of(results, row, metric));
      text += "</tr>\n";
    });
    text += "</tbody>\n";
  }
  return scrolled(text + "</table>", "What is recommended");
}

}  // namespace poise::report
