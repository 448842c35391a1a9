#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "poise/report/assets.hpp"
#include "poise/report/findings.hpp"
#include "poise/report/html_parts.hpp"
#include "poise/report/splits.hpp"
#include "poise/report/splits_text.hpp"
#include "poise/report/text.hpp"

namespace poise {
namespace {

using namespace report;

// No script, no request; the plots are drawn here.
constexpr std::string_view policy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

std::string scrolled(const std::string& table, const std::string& name) {
  return fmt::format(
      "<div class=\"wide\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{}\">{}</div></div>\n",
      html_text(name), table);
}

std::string number_cell(const std::string& text) { return fmt::format("<td class=\"number\">{}</td>", text); }

std::string kind_cell(const StudyModel& model, RowKind kind) {
  return is_baseline(model) ? "<td></td>"
                            : fmt::format("<td class=\"kind {0}\"><span>{0}</span></td>", to_string(kind));
}

std::string estimate_cell(const TableCell& cell) {
  std::string text;
  if (cell.test) {
    const int found = cell.pair ? direction(*cell.pair) : 0;
    text = fmt::format("<span class=\"value\">{}</span>", accuracy(cell.test->mean));
    if (cell.test->standard_error)
      text += fmt::format("<span class=\"error\">±{}</span>", accuracy(*cell.test->standard_error));
    text += fmt::format("<span class=\"mark\">{}</span>", found == 0 ? "" : found > 0 ? "↑" : "↓");
  }
  return fmt::format("<td class=\"number{}\">{}</td>", cell.best ? " best" : "", text);
}

std::string rank_table(const SplitsResults& results, const StudyTable& table, const std::string& name) {
  const std::size_t metrics = results.means.metrics.size();
  std::string names;
  std::string heads;
  for (const StudyData* data : table.data) {
    names += fmt::format("<th scope=\"colgroup\" colspan=\"{}\">{}</th>", metrics + 2, html_text(data->name));
    for (const std::string& metric : results.means.metrics)
      heads += fmt::format("<th scope=\"col\" class=\"number\">{}</th>", html_text(metric_name(metric)));
    heads += "<th scope=\"col\" class=\"number\">α</th><th scope=\"col\" class=\"number\">λ</th>";
  }
  std::string text = fmt::format(
      "<table class=\"accuracies\"><thead><tr><td colspan=\"2\"></td>{}</tr><tr><th "
      "scope=\"col\">Model</th><td></td>{}</tr></thead>\n",
      names, heads);
  for (const TableGroup& group : table.groups) {
    text += "<tbody>";
    for (const TableRow& row : group.rows) {
      text += "<tr>";
      if (&row == &group.rows.front())
        text += fmt::format("<th scope=\"rowgroup\" class=\"model\" rowspan=\"{}\">{}</th>",
                            group.rows.size(), html_text(numbered_name(group.model)));
      text += kind_cell(group.model, row.kind);
      for (const TableEntry& entry : row.entries) {
        for (const TableCell& cell : entry.cells) text += estimate_cell(cell);
        const bool trained = entry.row && !is_baseline(group.model);
        text += number_cell(trained ? range_text(splits_of(results, *entry.row).alpha) : "");
        text += number_cell(trained ? range_text(splits_of(results, *entry.row).lambda) : "");
      }
      text += "</tr>\n";
    }
    text += "</tbody>\n";
  }
  return scrolled(text + "</table>", name);
}

/// The differences of the splits as dots on a line with 0, and their mean as a bar; all with one scale.
std::string strip(const SplitPair& pair, double mean, double reach) {
  constexpr double width = 180;
  const auto x = [&](double value) { return width / 2 + value / reach * (width / 2 - 6); };
  std::string text = fmt::format(
      "<svg width=\"{0}\" height=\"20\" viewBox=\"0 0 {0} 20\" role=\"img\" aria-label=\"each split's "
      "difference\"><line x1=\"{1}\" x2=\"{1}\" y1=\"1\" y2=\"19\" stroke=\"var(--rule)\"/>"
      "<line x1=\"0\" x2=\"{0}\" y1=\"10\" y2=\"10\" stroke=\"var(--grid)\"/>"
      "<line x1=\"{2:.1f}\" x2=\"{2:.1f}\" y1=\"3\" y2=\"17\" stroke=\"currentColor\" stroke-width=\"2\"/>",
      width, width / 2, x(mean));
  for (const double value : present(pair.difference))
    text += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"10\" r=\"3.5\" fill=\"none\" stroke=\"currentColor\"><title>{}"
        "</title></circle>",
        x(value), difference(value));
  return text + "</svg>";
}

std::string pairs_table(const SplitsResults& results, const std::string& metric) {
  double reach = 1e-4;
  for (std::size_t k = 0; k < results.pairs.size(); ++k) {
    if (results.means.pairs[k].metric != metric) continue;
    for (const double value : present(results.pairs[k].difference)) reach = std::max(reach, std::abs(value));
  }
  std::string text = fmt::format(
      "<table class=\"pairs\"><thead><tr><th scope=\"col\">Model</th><td></td><th scope=\"col\" "
      "class=\"number\">Rank</th><th scope=\"col\" class=\"number\">Difference</th><th scope=\"col\" "
      "class=\"number\">Spread</th><th scope=\"col\" class=\"number\">Positive in</th><th scope=\"col\">Each "
      "split, {} to {}</th></tr></thead>\n",
      difference(-reach), difference(reach));
  for (const StudyData& part : results.means.data) {
    text += fmt::format(
        "<tbody><tr><th scope=\"rowgroup\" class=\"of-data\" colspan=\"7\"><span>{}</span></th></tr>\n",
        html_text(part.name));
    for (std::size_t k = 0; k < results.pairs.size(); ++k) {
      const StudyPair& pair = results.means.pairs[k];
      const SplitPair& all = results.pairs[k];
      if (pair.metric != metric || pair.data != part.name) continue;
      const int found = direction(pair);
      const std::string interval = pair.complete ? interval_text(pair.test) : "search not complete";
      text += fmt::format(
          "<tr><th scope=\"row\" class=\"model\">{}</th>{}<td class=\"number\">{}</td><td "
          "class=\"number{}\"><span class=\"value\">{}</span><span class=\"interval\">{}</span></td><td "
          "class=\"number\">{}</td><td class=\"number\">{} of {}</td><td>{}</td></tr>\n",
          html_text(numbered_name(pair.model)), kind_cell(pair.model, pair.kind), rank_number(pair.model),
          found == 0  ? ""
          : found > 0 ? " helps"
                      : " hurts",
          difference(pair.test.difference), interval, all.spread ? fmt::format("{:.4f}", *all.spread) : "",
          all.positive, all.splits, strip(all, pair.test.difference, reach));
    }
    text += "</tbody>\n";
  }
  return scrolled(text + "</table>", "Weighted less unweighted over splits");
}

std::string splits_table(const SplitsResults& results) {
  std::string text =
      "<table class=\"data\"><thead><tr><th scope=\"col\">Split</th><th scope=\"col\">Data</th>";
  for (const char* head : {"Items", "Interactions", "Training users", "Validation users", "Test users"})
    text += fmt::format("<th scope=\"col\" class=\"number\">{}</th>", head);
  text += "<th scope=\"col\">Checksum</th></tr></thead><tbody>\n";
  for (std::size_t k = 0; k < results.seeds.size(); ++k) {
    for (const StudyData& data : results.data[k]) {
      text += fmt::format("<tr><th scope=\"row\"><a href=\"{}/report.html\">seed {}</a></th><td>{}</td>",
                          folder_of_split(results.seeds[k]), results.seeds[k], html_text(data.name));
      for (const std::int64_t value :
           {data.items, data.interactions, data.train_users, data.validation_users, data.test_users})
        text += number_cell(grouped(value));
      text += fmt::format("<td class=\"checksum\">{}</td></tr>\n", html_text(data.checksum));
    }
  }
  return scrolled(text + "</tbody></table>", "Splits");
}

std::string conclusions(const SplitsResults& results) {
  std::string text;
  for (const StudyData& part : results.means.data) {
    std::string lines;
    for (const StudyConclusion& conclusion : results.means.conclusions) {
      if (conclusion.data != part.name) continue;
      const std::string rank =
          conclusion.overall ? "" : fmt::format("<b>{}</b> ", rank_heading(conclusion.rank));
      lines += fmt::format("<li>{}{}</li>\n", rank, html_text(conclusion.sentence));
    }
    if (const std::string best = best_row_text(results, part.name); !best.empty())
      lines += fmt::format("<li class=\"most\">{}</li>\n", html_text(best));
    if (const std::string note = validation_note(part); !note.empty())
      lines += fmt::format("<li>{}</li>\n", note);
    if (!lines.empty())
      text += fmt::format("<section><h2>{}</h2>\n<ul>\n{}</ul></section>\n", html_text(part.name), lines);
  }
  return "<div class=\"conclusions\">\n" + text + "</div>\n";
}

std::string section(std::string_view id, const std::string& heading, const std::string& body) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, html_text(heading), body);
}

std::string options(const SplitsResults& results) {
  std::string text = "<dl class=\"options\">\n";
  for (const auto& [name, value] : results.means.options)
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(name), html_text(value));
  text +=
      fmt::format("<div><dt>time of the last run</dt><dd>{}</dd></div>\n", duration(results.means.seconds));
  return text +
         fmt::format("<div><dt>Poise</dt><dd>{}</dd></div>\n</dl>\n", html_text(results.means.version));
}

}  // namespace

std::string splits_html(const SplitsResults& results) {
  const StudyResults& means = results.means;
  const std::string title = html_text(splits_headline(results));
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n"
      "<body>\n<header>\n<p class=\"kicker\">A study by Poise over several splits: does weighting "
      "help?</p>\n<h1>{}</h1>\n<p>{}</p>\n{}",
      policy, title, assets::page_css, title, html_text(splits_terms(results)), conclusions(results));
  page +=
      "<nav><a href=\"#tables\">Tables</a> <a href=\"#pairs\">Differences</a> <a href=\"#splits\">Splits</a> "
      "<a href=\"#options\">Options</a></nav>\n</header>\n<main>\n";
  std::string tables =
      "<p>Means over splits ± spread, the standard deviation over splits. <b>↑</b> and <b>↓</b>: the "
      "interval of "
      "the mean difference from the model's unweighted row is above or below 0. <b>Bold</b>: alone the best "
      "of a "
      "model's rows in the digits shown. α and λ: what the splits chose, from least to most.</p>\n";
  for (const auto& [rank, table] : tables_by_rank(means))
    tables +=
        fmt::format("<h3>{}</h3>\n{}", rank_heading(rank), rank_table(results, table, rank_heading(rank)));
  if (const std::string finding = popularity_over_splits(results); !finding.empty())
    tables += fmt::format("<p>{}.</p>\n", html_text(finding));
  if (!results.seeds.empty()) page += section("tables", "Accuracy at each rank", tables);
  if (!results.pairs.empty()) {
    std::string pairs =
        "<p>The mean over splits of a row less its unweighted row, with its 95 % interval, the spread over "
        "splits, and in how many of them it is positive. Circles are the splits, the bar is their mean, the "
        "thin line 0. Coloured where the interval is on one side of 0.</p>\n";
    for (const std::string& metric : means.metrics)
      pairs += fmt::format("<h3>{}</h3>\n{}", html_text(metric_name(metric)), pairs_table(results, metric));
    page += section("pairs", "Weighted less unweighted", pairs);
  }
  if (!results.seeds.empty())
    page += section("splits", "Splits",
                    "<p>Each split has a page of its own, with its plots, points and certificates.</p>\n" +
                        splits_table(results));
  page += section("options", "Options, version, time", options(results));
  return page + "</main>\n<footer><p>Made by Poise.</p></footer>\n</body>\n</html>\n";
}

}  // namespace poise
