#include "poise/report/markdown.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "poise/report/beyond.hpp"
#include "poise/report/findings.hpp"
#include "poise/report/pipe_table.hpp"
#include "poise/report/text.hpp"

namespace poise {

namespace {

using namespace report;

std::string markdown_estimate(const TableCell& cell) {
  if (!cell.test) return "";
  const std::string mean = accuracy(cell.test->mean);
  const std::string error =
      cell.test->standard_error ? " ±" + accuracy(*cell.test->standard_error) : std::string();
  const int found = cell.pair ? direction(*cell.pair) : 0;
  const char* const arrow = found == 0 ? "" : found > 0 ? " ↑" : " ↓";
  if (cell.aside) return "(" + mean + error + ")";
  return (cell.best ? "**" + mean + "**" : mean) + error + arrow;
}

std::vector<std::string> paper_row(const TableRow& row) {
  std::vector<std::string> cells = {"", "  the paper"};
  const PaperFigure* any = nullptr;
  for (const TableEntry& entry : row.entries) {
    if (entry.paper) any = entry.paper;
    for (const TableCell& cell : entry.cells) cells.push_back(cell.paper ? accuracy(*cell.paper) : "");
    cells.push_back(entry.paper ? fmt::format("{}", entry.paper->alpha) : "");
  }
  if (!any) return {};
  cells.push_back(wins(any->wins, 9));
  return cells;
}

std::string markdown_data_table(const StudyResults& results, const StudyTable& table) {
  const bool dropout = has_any(table, &StudyRow::dropout);
  const bool exponent = has_any(table, &StudyRow::lambda_exponent);
  const bool gamma = has_any(table, &StudyRow::gamma);
  const bool dislikes = has_any(table, &StudyRow::alpha_negative, 1);
  const std::size_t numbers = results.metrics.size() + 3 + (dropout ? 1 : 0) + (exponent ? 1 : 0) +
                              (gamma ? 1 : 0) + (dislikes ? 1 : 0);
  PipeTable text("rll" + std::string(numbers, 'r'));
  std::vector<std::string> heads = {"Rank", "Model", ""};
  for (const std::string& metric : results.metrics) heads.push_back(metric_name(metric));
  heads.emplace_back("alpha");
  heads.emplace_back("lambda");
  if (exponent) heads.emplace_back("exponent");
  if (dropout) heads.emplace_back("dropout");
  if (gamma) heads.emplace_back("gamma");
  if (dislikes) heads.emplace_back("alpha of dislikes");
  heads.emplace_back("certificate");
  text.add(heads);
  for (const TableGroup& group : table.groups) {
    const bool baseline = is_baseline(group.model);
    for (const TableRow& row : group.rows) {
      const bool first = &row == &group.rows.front();
      std::vector<std::string> cells = {rank_number(group.model),
                                        first ? markdown_text(numbered_name(group.model)) : "",
                                        kind_name(group.model, row.kind)};
      const TableEntry& entry = row.entries[0];
      for (const TableCell& cell : entry.cells) cells.push_back(markdown_estimate(cell));
      if (!baseline) {
        cells.push_back(setting(entry.row->alpha));
        cells.push_back(setting(entry.row->lambda));
        if (exponent) cells.push_back(setting(entry.row->lambda_exponent));
        if (dropout) cells.push_back(setting(entry.row->dropout));
        if (gamma) cells.push_back(setting(entry.row->gamma));
        if (dislikes) cells.push_back(setting(entry.row->alpha_negative));
        cells.push_back(!entry.row->final ? ""
                                          : bound(entry.row->certificate.relative) +
                                                (entry.row->converged ? "" : " (open)"));
        if (const std::string state = row_state(*entry.row); !state.empty()) cells[2] += ", " + state;
      }
      text.add(std::move(cells));
    }
  }
  return text.text();
}

std::string markdown_pairs(const StudyResults& results) {
  PipeTable text("lrllrrrr");
  text.add({"Data", "Rank", "Model", "", "Users", "Difference", "95 % interval", "p"});
  for (const StudyPair& pair : results.pairs) {
    if (pair.metric != results.choice) continue;
    const PairedDifference& test = pair.test;
    text.add({markdown_text(pair.data), rank_number(pair.model), markdown_text(numbered_name(pair.model)),
              std::string(to_string(pair.kind)), grouped(test.users), difference(test.difference),
              fmt::format("{} to {}", difference(test.low), difference(test.high)),
              pair.complete ? p_value(test.p) : "search not complete"});
  }
  return text.text();
}

}  // namespace

namespace report {

std::string markdown_findings(const StudyResults& results,
                              const std::function<std::string(const std::string& data)>& best) {
  std::string lines;
  for (const auto& [what, sentence] : listed_findings(results, best, markdown_text))
    lines += fmt::format("- **{}**: {}\n", what, sentence);
  return lines;
}

std::string markdown_rank_table(const StudyResults& results, const StudyTable& table,
                                const RankColumns& with) {
  const std::size_t columns = results.metrics.size() + (with.lambda ? 2 : 1);
  std::string alignment = "ll";
  std::vector<std::string> names = {"", ""};
  std::vector<std::string> heads = {"Model", ""};
  for (const StudyData* data : table.data) {
    alignment += std::string(columns, 'r');
    names.push_back(markdown_text(data->name));
    names.resize(names.size() + columns - 1);
    for (const std::string& metric : results.metrics) heads.push_back(metric_name(metric));
    heads.emplace_back("alpha");
    if (with.lambda) heads.emplace_back("lambda");
  }
  if (with.wins) heads.emplace_back("Wins");
  PipeTable text(alignment + (with.wins ? "r" : ""));
  text.add(names);
  text.add(heads);
  for (const TableGroup& group : table.groups) {
    for (const TableRow& row : group.rows) {
      const bool first = &row == &group.rows.front();
      std::vector<std::string> cells = {first ? markdown_text(numbered_name(group.model)) : "",
                                        kind_name(group.model, row.kind)};
      for (const TableEntry& entry : row.entries) {
        for (const TableCell& cell : entry.cells) cells.push_back(markdown_estimate(cell));
        const bool trained = entry.row && !is_baseline(group.model);
        cells.push_back(trained ? with.alpha(*entry.row) : "");
        if (with.lambda) cells.push_back(trained ? with.lambda(*entry.row) : "");
      }
      if (with.wins) cells.push_back(wins(row.wins, group.compared));
      text.add(cells);
      if (auto paper = paper_row(row); with.paper && !paper.empty()) text.add(std::move(paper));
    }
  }
  return text.text();
}

}  // namespace report

std::string study_markdown(const StudyResults& results) {
  std::string text = fmt::format("# {}\n\n", headline(results));
  if (const std::string terms = headline_terms(results); !terms.empty()) text += terms + "\n\n";
  if (const std::string open = unfinished_finding(results); !open.empty())
    text += markdown_text(open) + "\n\n";
  const std::string lines =
      markdown_findings(results, [&](const std::string& data) { return best_finding(results, data); });
  if (!lines.empty()) text += lines + "\n";
  for (const auto& [rank, table] : tables_by_rank(results))
    text += fmt::format("## {}\n\n{}\n", rank_heading(rank),
                        markdown_rank_table(results, table, rank_columns(results)));
  text +=
      without_test(results)
          ? "Validation users' mean ± its standard error.\n\n"
          : "Test users' mean ± its standard error. ↑ and ↓: measurably more or less accurate than the "
            "unweighted row (paired t test, p < 0.05, not corrected for the number of cells). Bold: alone "
            "the best of a model's rows in the digits shown, be it by chance; wins count these cells.\n\n";
  for (const StudyTable& table : tables_by_data(results))
    text += fmt::format("## {}: every row\n\n{}\n", markdown_text(table.data[0]->name),
                        markdown_data_table(results, table));
  if (const std::string finding = certificate_finding(results); !finding.empty())
    text += fmt::format("{}. {}\n\n", finding, certificate_terms());
  if (std::ranges::any_of(results.pairs,
                          [&](const StudyPair& pair) { return pair.metric == results.choice; }))
    text += fmt::format(
        "## {} less the unweighted row's, over the same users\n\n{}\n"
        "Paired t tests; p is not corrected for the number of comparisons.\n\n",
        metric_name(results.choice), markdown_pairs(results));
  if (has_beyond(results)) {
    text += "## What is recommended, beyond accuracy\n\n";
    if (const std::string finding = beyond_finding(results); !finding.empty()) text += finding + ".\n\n";
    text += beyond_markdown(results) + beyond_terms() + "\n\n";
  }
  if (const std::string finding = popularity_finding(results); !finding.empty())
    text += fmt::format("{} ({}, p < 0.05 after Holm's correction over all rows).\n", finding,
                        metric_name(results.choice));
  return text;
}

}  // namespace poise
