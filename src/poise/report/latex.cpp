#include "poise/report/latex.hpp"

#include <fmt/format.h>

#include "poise/report/beyond.hpp"
#include "poise/report/findings.hpp"
#include "poise/report/text.hpp"

namespace poise {

namespace {

using namespace report;

constexpr std::string_view preamble = R"(\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{textcomp}
\usepackage{booktabs}
\usepackage{graphicx}
\usepackage[a4paper,margin=15mm]{geometry}
\setlength{\belowcaptionskip}{6pt}
\newcommand{\pmse}[1]{\,{\scriptsize$\pm$#1}}
\newcommand{\fitted}[1]{\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{#1}}
\begin{document}
)";

std::string latex_estimate(const TableCell& cell) {
  if (!cell.test) return "";
  const std::string mean = accuracy(cell.test->mean);
  const std::string error =
      cell.test->standard_error ? fmt::format("\\pmse{{{}}}", accuracy(*cell.test->standard_error)) : "";
  const int found = cell.pair ? direction(*cell.pair) : 0;
  const char* const arrow = found == 0 ? "" : found > 0 ? "\\,$\\uparrow$" : "\\,$\\downarrow$";
  if (cell.aside) return fmt::format("({}{})", mean, error);
  return (cell.best ? fmt::format("\\textbf{{{}}}", mean) : mean) + error + arrow;
}

std::string paper_line(const TableRow& row) {
  std::string line = " & \\quad the paper";
  const PaperFigure* any = nullptr;
  for (const TableEntry& entry : row.entries) {
    if (entry.paper) any = entry.paper;
    for (const TableCell& cell : entry.cells) line += " & " + (cell.paper ? accuracy(*cell.paper) : "");
    line += " & " + (entry.paper ? fmt::format("{}", entry.paper->alpha) : "");
  }
  return any ? fmt::format("{} & {} \\\\\n", line, wins(any->wins, 9)) : "";
}

std::string rank_caption(const StudyResults& results, const std::optional<std::int64_t>& rank) {
  return fmt::format("Ranking accuracies at {}: means over the {} and their standard errors{}.",
                     rank_name(rank), users_of(results),
                     without_test(results)
                         ? ""
                         : "; arrows where a row is measurably more or less accurate than the unweighted one "
                           "(paired $t$ test, $p < 0.05$, not corrected); bold where it is alone the best of "
                           "its model in the digits shown");
}

std::string latex_data_table(const StudyResults& results, const StudyTable& table) {
  std::string body = "Rank & Model & ";
  for (const std::string& metric : results.metrics) body += " & " + latex_text(metric_name(metric));
  const bool exponent = has_any(table, &StudyRow::lambda_exponent);
  const bool gamma = has_any(table, &StudyRow::gamma);
  const bool dislikes = has_any(table, &StudyRow::alpha_negative, 1);
  body += fmt::format(" & $\\alpha$ & $\\lambda$ {}{}{}& dropout & certificate \\\\\n",
                      exponent ? "& exponent " : "", gamma ? "& $\\gamma$ " : "",
                      dislikes ? "& $\\alpha_-$ " : "");
  for (const TableGroup& group : table.groups) {
    body += &group == &table.groups.front() ? "\\midrule\n" : "\\addlinespace\n";
    const bool baseline = is_baseline(group.model);
    for (const TableRow& row : group.rows) {
      const bool first = &row == &group.rows.front();
      const TableEntry& entry = row.entries[0];
      const std::string state = baseline ? "" : row_state(*entry.row);
      body += fmt::format("{} & {} & {}{}{}", first ? rank_number(group.model) : "",
                          first ? latex_text(numbered_name(group.model)) : "",
                          kind_name(group.model, row.kind), state.empty() ? "" : ", ", state);
      for (const TableCell& cell : entry.cells) body += " & " + latex_estimate(cell);
      body += baseline ? std::string(" & & & &") + (exponent ? " &" : "") + (gamma ? " &" : "") +
                             (dislikes ? " &" : "")
                       : fmt::format(" & {} & {}{}{}{} & {} & {}", setting(entry.row->alpha),
                                     setting(entry.row->lambda),
                                     exponent ? " & " + setting(entry.row->lambda_exponent) : "",
                                     gamma ? " & " + setting(entry.row->gamma) : "",
                                     dislikes ? " & " + setting(entry.row->alpha_negative) : "",
                                     entry.row->dropout != 0 ? setting(entry.row->dropout) : "",
                                     entry.row->final ? bound(entry.row->certificate.relative) : "");
      body += " \\\\\n";
    }
  }
  return latex_table(
      fmt::format("Every row on {}, with the point that validation chose and its certificate. {}",
                  latex_text(table.data[0]->name), latex_text(certificate_terms())),
      "rll" + std::string(results.metrics.size() + (exponent ? 5 : 4) + (gamma ? 1 : 0) + (dislikes ? 1 : 0),
                          'r'),
      body);
}

}  // namespace

namespace report {

std::string_view latex_preamble() { return preamble; }

std::string latex_findings(const StudyResults& results,
                           const std::function<std::string(const std::string& data)>& best) {
  std::string text;
  for (const auto& [what, sentence] : listed_findings(results, best, latex_text))
    text += fmt::format("\n\\noindent {}: {}\n", what, sentence);
  return text;
}

std::string latex_rank_table(const StudyResults& results, const StudyTable& table, const RankColumns& with,
                             const std::string& caption) {
  const std::size_t metrics = results.metrics.size();
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
    for (const std::string& metric : results.metrics) heads += " & " + latex_text(metric_name(metric));
    heads += " & $\\alpha$";
  }
  std::string body = fmt::format("{}{} \\\\\n{}\n{}{} \\\\\n", names, with.wins ? " &" : "", rules, heads,
                                 with.wins ? " & Wins" : "");
  for (const TableGroup& group : table.groups) {
    body += &group == &table.groups.front() ? "\\midrule\n" : "\\addlinespace\n";
    for (const TableRow& row : group.rows) {
      body += &row == &group.rows.front() ? latex_text(numbered_name(group.model)) : "";
      body += " & " + kind_name(group.model, row.kind);
      for (const TableEntry& entry : row.entries) {
        for (const TableCell& cell : entry.cells) body += " & " + latex_estimate(cell);
        body += " & " + (entry.row && !is_baseline(group.model) ? with.alpha(*entry.row) : "");
      }
      if (with.wins) body += fmt::format(" & {}", wins(row.wins, group.compared));
      body += " \\\\\n";
      if (with.paper) body += paper_line(row);
    }
  }
  return latex_table(caption, columns + (with.wins ? "r" : ""), body);
}

std::string latex_table(const std::string& caption, const std::string& columns, const std::string& body) {
  return fmt::format(
      "\n\\begin{{table}}[p]\n\\centering\n\\caption{{{}}}\n\\fitted{{%\n\\begin{{tabular}}{{{}}}"
      "\n\\toprule\n{}"
      "\\bottomrule\n\\end{{tabular}}}}\n\\end{{table}}\n",
      caption, columns, body);
}

}  // namespace report

std::string study_latex(const StudyResults& results) {
  std::string text(preamble);
  text +=
      fmt::format("\\noindent {}. {}\n", latex_text(headline(results)), latex_text(headline_terms(results)));
  if (const std::string open = unfinished_finding(results); !open.empty())
    text += fmt::format("\n\\noindent {}\n", latex_text(open));
  text += latex_findings(results, [&](const std::string& data) { return best_finding(results, data); });
  for (const auto& [rank, table] : tables_by_rank(results))
    text += latex_rank_table(results, table, rank_columns(results), rank_caption(results, rank));
  for (const StudyTable& table : tables_by_data(results)) text += latex_data_table(results, table);
  if (has_beyond(results)) {
    text += fmt::format("\n\\noindent {}{}\n",
                        latex_text(beyond_finding(results).empty() ? "" : beyond_finding(results) + ". "),
                        latex_text(beyond_terms()));
    text += beyond_latex(results);
  }
  return text + "\\end{document}\n";
}

}  // namespace poise
