#include <fmt/format.h>

#include "poise/report/findings.hpp"
#include "poise/report/latex.hpp"
#include "poise/report/splits.hpp"
#include "poise/report/splits_text.hpp"
#include "poise/report/text.hpp"

namespace poise {
namespace {

using namespace report;

std::string estimate(const TableCell& cell) {
  if (!cell.test) return "";
  const std::string mean = accuracy(cell.test->mean);
  const std::string spread =
      cell.test->standard_error ? fmt::format("\\pmse{{{}}}", accuracy(*cell.test->standard_error)) : "";
  const int found = cell.pair ? direction(*cell.pair) : 0;
  const char* const arrow = found == 0 ? "" : found > 0 ? "\\,$\\uparrow$" : "\\,$\\downarrow$";
  return (cell.best ? fmt::format("\\textbf{{{}}}", mean) : mean) + spread + arrow;
}

std::string rank_table(const SplitsResults& results, const RankTable& ranked) {
  const std::size_t metrics = results.means.metrics.size();
  const StudyTable& table = ranked.table;
  std::string columns = "ll";
  std::string names = " & ";
  std::string rules;
  std::string heads = "Model & ";
  for (std::size_t part = 0; part < table.data.size(); ++part) {
    columns += std::string(metrics + 1, 'r');
    names +=
        fmt::format(" & \\multicolumn{{{}}}{{c}}{{{}}}", metrics + 1, latex_text(table.data[part]->name));
    const std::size_t left = 3 + part * (metrics + 1);
    rules += fmt::format("\\cmidrule(lr){{{}-{}}}", left, left + metrics);
    for (const std::string& metric : results.means.metrics) heads += " & " + latex_text(metric_name(metric));
    heads += " & $\\alpha$";
  }
  std::string body = fmt::format("{} \\\\\n{}\n{} \\\\\n", names, rules, heads);
  for (const TableGroup& group : table.groups) {
    body += &group == &table.groups.front() ? "\\midrule\n" : "\\addlinespace\n";
    for (const TableRow& row : group.rows) {
      body += &row == &group.rows.front() ? latex_text(numbered_name(group.model)) : "";
      body += " & " + kind_name(group.model, row.kind);
      for (const TableEntry& entry : row.entries) {
        for (const TableCell& cell : entry.cells) body += " & " + estimate(cell);
        body += " & ";
        if (entry.row && !is_baseline(group.model)) body += range_text(splits_of(results, *entry.row).alpha);
      }
      body += " \\\\\n";
    }
  }
  return latex_table(
      fmt::format("Ranking accuracies at {}: means over {} splits (seeds {}) and their standard "
                  "deviations; arrows where the 95\\,\\% interval of the mean difference from the "
                  "unweighted row is on one side of 0; bold where a row is alone the best of its "
                  "model in the digits shown.",
                  rank_name(ranked.rank), results.seeds.size(), seed_list(results)),
      columns, body);
}

std::string pairs_table(const SplitsResults& results) {
  std::string body =
      "Data & Rank & Model & & difference & spread & positive in & 95\\,\\% interval \\\\\n\\midrule\n";
  for (std::size_t k = 0; k < results.pairs.size(); ++k) {
    const StudyPair& pair = results.means.pairs[k];
    const SplitPair& all = results.pairs[k];
    if (pair.metric != results.means.choice) continue;
    body += fmt::format("{} & {} & {} & {} & ${}$ & {} & {} of {} & {} \\\\\n", latex_text(pair.data),
                        rank_number(pair.model), latex_text(numbered_name(pair.model)), to_string(pair.kind),
                        difference(pair.test.difference),
                        all.spread ? fmt::format("{:.4f}", *all.spread) : "", all.positive, all.splits,
                        pair.complete ? latex_text(interval_text(pair.test)) : "search not complete");
  }
  return latex_table(
      fmt::format("{} less the unweighted row's over splits.", latex_text(metric_name(results.means.choice))),
      "lrllrrrr", body);
}

}  // namespace

std::string splits_latex(const SplitsResults& results) {
  std::string text(latex_preamble());
  text += fmt::format("\\noindent {}. {}\n", latex_text(splits_headline(results)),
                      latex_text(splits_terms(results)));
  for (const StudyConclusion& conclusion : results.means.conclusions)
    text += fmt::format("\n\\noindent {}{}: {}\n", latex_text(conclusion.data),
                        conclusion.overall ? "" : ", " + rank_name(conclusion.rank),
                        latex_text(conclusion.sentence));
  for (const StudyData& part : results.means.data) {
    if (const std::string best = best_row_text(results, part.name); !best.empty())
      text += fmt::format("\n\\noindent {}: {}\n", latex_text(part.name), latex_text(best));
    if (const std::string note = validation_note(part); !note.empty())
      text += fmt::format("\n\\noindent {}: {}\n", latex_text(part.name), note);
  }
  for (const RankTable& table : tables_by_rank(results.means)) text += rank_table(results, table);
  if (!results.pairs.empty()) text += pairs_table(results);
  return text + "\\end{document}\n";
}

}  // namespace poise
