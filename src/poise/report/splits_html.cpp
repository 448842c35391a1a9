#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "poise/report/findings.hpp"
#include "poise/report/html_parts.hpp"
#include "poise/report/report.hpp"
#include "poise/report/splits_text.hpp"
#include "poise/report/text.hpp"

namespace poise {
namespace {

using namespace report;

// No script and no request; the plots are drawn here.
constexpr std::string_view no_scripts_policy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

std::string splits_rank_table(const SplitsResults& results, const RankTable& rank) {
  const auto cells = [&](const TableGroup& group, const TableEntry& entry) {
    std::string text;
    for (const TableCell& cell : entry.cells)
      text += fmt::format("<td class=\"number{}\">{}</td>", cell.best ? " best" : "", estimate_html(cell));
    const bool trained = entry.row && !is_baseline(group.model);
    return text + number_cell(trained ? range_text(splits_of(results, *entry.row).alpha) : "") +
           number_cell(trained ? range_text(splits_of(results, *entry.row).lambda) : "");
  };
  return html_rank_table(results.means, rank, {.heads = {"α", "λ"}, .cells = cells});
}

/// The differences of the splits as dots on a line with 0, and their mean as a bar; all with one scale.
std::string strip(const SplitPair& pair, double mean, double reach) {
  constexpr double width = 180;
  const auto x = [&](double value) { return width / 2 + value / reach * (width / 2 - 6); };
  std::string text = fmt::format(
      "<svg width=\"{0}\" height=\"20\" viewBox=\"0 0 {0} 20\" role=\"img\" aria-label=\"each split's "
      "difference\"><line x1=\"{1}\" x2=\"{1}\" y1=\"1\" y2=\"19\" stroke=\"var(--rule)\"/><line x1=\"0\" "
      "x2=\"{0}\" y1=\"10\" y2=\"10\" stroke=\"var(--grid)\"/><line x1=\"{2:.1f}\" x2=\"{2:.1f}\" y1=\"3\" "
      "y2=\"17\" stroke=\"currentColor\" stroke-width=\"2\"/>",
      width, width / 2, x(mean));
  for (const double value : present(pair.difference))
    text += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"10\" r=\"3.5\" fill=\"none\" "
        "stroke=\"currentColor\"><title>{}</title></circle>",
        x(value), difference(value));
  return text + "</svg>";
}

std::string split_pairs_html(const SplitsResults& results, const std::string& metric) {
  double reach = 1e-4;
  for (std::size_t k = 0; k < results.pairs.size(); ++k) {
    if (results.means.pairs[k].metric != metric) continue;
    for (const double value : present(results.pairs[k].difference)) reach = std::max(reach, std::abs(value));
  }
  std::string text = fmt::format(
      "<table class=\"pairs\"><thead><tr>{}<th scope=\"col\" class=\"number\">Difference</th><th "
      "scope=\"col\" class=\"number\">Spread</th><th scope=\"col\" class=\"number\">Positive in</th><th "
      "scope=\"col\">Each split, {} to {}</th></tr></thead>\n",
      pair_heads(), difference(-reach), difference(reach));
  for (const StudyData& part : results.means.data) {
    text += data_line(part.name, 7);
    for (std::size_t k = 0; k < results.pairs.size(); ++k) {
      const StudyPair& pair = results.means.pairs[k];
      const SplitPair& all = results.pairs[k];
      if (pair.metric != metric || pair.data != part.name) continue;
      const std::string interval = pair.complete ? interval_text(pair.test) : "search not complete";
      text += fmt::format(
          "<tr>{}<td class=\"number{}\"><span class=\"value\">{}</span><span "
          "class=\"interval\">{}</span></td><td class=\"number\">{}</td><td class=\"number\">{} of "
          "{}</td><td>{}</td></tr>\n",
          pair_cells(pair.model, pair.kind), direction_class(pair), difference(pair.test.difference),
          interval, all.spread ? fmt::format("{:.4f}", *all.spread) : "", all.positive, all.splits,
          strip(all, pair.test.difference, reach));
    }
    text += "</tbody>\n";
  }
  return scrolled(text + "</table>", "Weighted less unweighted over splits");
}

std::string splits_summary_html(const SplitsResults& results) {
  std::string text =
      "<table class=\"data\"><thead><tr><th scope=\"col\">Split</th><th scope=\"col\">Data</th>";
  for (const char* head : {"Items", "Interactions", "Training users", "Validation users", "Test users"})
    text += number_head(head);
  text += "<th scope=\"col\">Checksum</th></tr></thead><tbody>\n";
  for (std::size_t k = 0; k < results.seeds.size(); ++k) {
    for (const StudyData& data : results.data[k]) {
      const std::uint32_t seed = results.seeds[k];
      text += fmt::format("<tr><th scope=\"row\"><a href=\"{}/report.html\">{} {}</a></th><td>{}</td>",
                          folder_of_split(seed, !results.cuts.empty()), split_kind(results),
                          html_text(split_name(results, seed)), html_text(data.name));
      for (const std::int64_t value :
           {data.items, data.interactions, data.train_users, data.validation_users, data.test_users})
        text += number_cell(grouped(value));
      text += fmt::format("<td class=\"checksum\">{}</td></tr>\n", html_text(data.checksum));
    }
  }
  return scrolled(text + "</tbody></table>", "Splits");
}

}  // namespace

std::string splits_html(const SplitsResults& results) {
  const StudyResults& means = results.means;
  std::string page = html_head(no_scripts_policy, splits_headline(results));
  page += fmt::format(
      "<header>\n<p class=\"kicker\">A study by Poise over several splits: does weighting "
      "help?</p>\n<h1>{}</h1>\n<p>{}</p>\n<div class=\"conclusions\">\n{}</div>\n",
      html_text(splits_headline(results)), html_text(splits_terms(results)),
      html_findings(means, [&](const StudyData& part) {
        const std::string best = best_row_text(results, part.name);
        const std::string note = validation_note(part);
        return (best.empty() ? "" : fmt::format("<li class=\"most\">{}</li>\n", html_text(best))) +
               (note.empty() ? "" : fmt::format("<li>{}</li>\n", note));
      }));
  page +=
      "<nav><a href=\"#tables\">Tables</a> <a href=\"#pairs\">Differences</a> <a href=\"#splits\">Splits</a> "
      "<a href=\"#options\">Options</a></nav>\n</header>\n<main>\n";
  std::string tables =
      "<p>Means over splits ± spread, the standard deviation over splits. <b>↑</b> and <b>↓</b>: the "
      "interval of the mean difference from the model's unweighted row is above or below 0. <b>Bold</b>: "
      "alone the best of a model's rows in the digits shown. α and λ: what the splits chose, from least to "
      "most.</p>\n";
  for (const RankTable& rank : tables_by_rank(means))
    tables += fmt::format("<h3>{}</h3>\n{}", rank_heading(rank.rank), splits_rank_table(results, rank));
  if (const std::string finding = popularity_over_splits(results); !finding.empty())
    tables += fmt::format("<p>{}.</p>\n", html_text(finding));
  if (!results.seeds.empty()) page += html_section("tables", "Accuracy at each rank", tables);
  if (!results.pairs.empty()) {
    std::string pairs =
        "<p>The mean over splits of a row less its unweighted row, with its 95 % interval, the spread over "
        "splits, and in how many of them it is positive. Circles are the splits, the bar is their mean, the "
        "thin line 0. Coloured where the interval is on one side of 0.</p>\n";
    for (const std::string& metric : means.metrics)
      pairs +=
          fmt::format("<h3>{}</h3>\n{}", html_text(metric_name(metric)), split_pairs_html(results, metric));
    page += html_section("pairs", "Weighted less unweighted", pairs);
  }
  if (!results.seeds.empty())
    page +=
        html_section("splits", "Splits",
                     "<p>Each split has a page of its own, with its plots, points and certificates.</p>\n" +
                         splits_summary_html(results));
  page += html_section("options", "Options, version, time", html_options(means, {}));
  return page + "</main>\n<footer><p>Made by Poise.</p></footer>\n</body>\n</html>\n";
}

}  // namespace poise
