#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "poise/model/family.hpp"
#include "poise/report/assets.hpp"
#include "poise/report/beyond.hpp"
#include "poise/report/findings.hpp"
#include "poise/report/html_parts.hpp"
#include "poise/report/report.hpp"
#include "poise/report/text.hpp"

namespace poise {

namespace {

using namespace report;

constexpr std::string_view scripts_policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri "
    "'none'; form-action 'none'";

/// The objectives of the study's models; variants of full rank refer to that of full rank.
std::string models_legend(const StudyResults& results) {
  std::string text;
  for (const ModelKind& kind : model_kinds()) {
    if (!kind.objective.empty() && std::ranges::any_of(results.rows, [&](const StudyRow& row) {
          return row.model.key == kind.key || row.model.key.starts_with(fmt::format("{}/", kind.key));
        }))
      text += fmt::format("<div><dt>{}. {}</dt><dd>{}</dd></div>\n", kind.place, kind.title, kind.objective);
  }
  return text.empty() ? "" : fmt::format("<dl class=\"models\">\n{}</dl>\n", text);
}

constexpr std::string_view kinds_legend =
    "<p class=\"legend\"><span class=\"kind unweighted\">unweighted</span> <span class=\"kind "
    "weighted\">weighted</span> <span class=\"kind down-weighted\">down-weighted</span></p>\n";

bool has_paper(const StudyResults& results) {
  for (const StudyData& part : results.data) {
    if (!part.paper_data.empty()) return true;
  }
  return false;
}

/// What alpha means; only searches have other weights than constant ones.
std::string alpha_terms(const StudyResults& results) {
  std::string text =
      "α is the weight of an observed entry against 1 for all others; the unweighted rows have α = 1.";
  const auto has = [&](const std::function<bool(const SchemeTraits&)>& wanted) {
    return std::ranges::any_of(results.rows, [&](const StudyRow& row) {
      const auto scheme = std::ranges::find(schemes(), row.model.weighting, &SchemeTraits::name);
      return scheme != schemes().end() && wanted(*scheme);
    });
  };
  if (has(&SchemeTraits::slope))
    text += " With linear and log weights it is their slope, and 0 without weights.";
  if (has([](const SchemeTraits& scheme) { return !scheme.unweighted_alpha; }))
    text += " Where weights vary by user, item or value it multiplies them.";
  return text;
}

std::string tables(const StudyResults& results) {
  std::string text = without_test(results)
                         ? "<p>Means over the validation users ± standard error. "
                         : "<p>Means over the test users ± standard error. <b>↑</b> and <b>↓</b>: measurably "
                           "more or less accurate than the model's unweighted row (paired t test over the "
                           "same users, p &lt; 0.05, not corrected for the number of cells). <b>Bold</b>: "
                           "alone the best of a model's rows in the digits shown, be it by chance; wins "
                           "count these cells as the paper does, and a tie counts for neither. ";
  text += alpha_terms(results) + "</p>\n";
  if (has_paper(results))
    text +=
        "<p>Small figures below ours are the paper's (Ayoub et al., “Does Weighting Improve Matrix "
        "Factorization for Recommender Systems?”, WWW 2025), which prints α of model 2 one higher than this "
        "table does.</p>\n";
  text += kinds_legend;
  return html_section("tables", "Accuracy at each rank",
                      text + rank_tables_html(results) + models_legend(results));
}

std::string figure(std::string_view id, const std::string& heading, const std::string& caption) {
  return fmt::format(
      "<figure id=\"{}\"><figcaption><h3>{}</h3>\n<p>{}</p></figcaption>\n<div "
      "class=\"panels\"></div></figure>\n",
      id, html_text(heading), caption);
}

std::string plots(const StudyResults& results) {
  const std::string metric = html_text(metric_name(results.choice));
  std::string text =
      "<noscript><p>The plots are drawn by a script in this page; the tables have the same "
      "numbers.</p></noscript>\n"
      "<form id=\"choose\" hidden></form>\n";
  text += kinds_legend;
  text += figure("accuracy", "Accuracy against rank",
                 fmt::format("Mean over the {}; a bar spans one standard error to each side of each mean by "
                             "itself, so bars may overlap where the paired difference is clear. All panels "
                             "share their scale; the dashed line is popularity.",
                             users_of(results)));
  text += figure(
      "profiles", "What validation chose",
      fmt::format("Lines: for each α the highest {} on the validation users that any λ (and whatever else "
                  "was searched) reached. A bar spans one standard error of the difference from the best "
                  "point without weights, over the same users. Small dots are all other points that were "
                  "tried and come near; the large marks are the points that the tables report.",
                  metric));
  const auto has_bins = [](const StudyRow& row) { return !row.by_popularity.empty(); };
  if (std::ranges::any_of(results.rows, has_bins))
    text += figure(
        "popularity-bins", "Where weighting acts: recall by item popularity",
        fmt::format("The share of the test users' targets that are among their first {} recommendations, by "
                    "how many training users the item has: rare items to the left. Points have no intervals, "
                    "and those of few targets vary by chance; a point's tip says how many it has.",
                    results.popularity_cutoff));
  text += figure("convergence", "How the solutions converged",
                 "First how far the objective lies above the lowest reached, relative to it; then the "
                 "certificate, at full rank that of the worst column, as a part of the explained weight. "
                 "Both on log scales, after each round or iteration; a panel needs more than one of them. "
                 "Every row's final certificate is in the table below.");
  return html_section("plots", "Plots", text);
}

std::string every_row(const StudyResults& results) {
  const std::string metric = html_text(metric_name(results.choice));
  std::string text =
      without_test(results)
          ? "<p>The point that validation chose for each row, and its certificate.</p>\n"
          : fmt::format(
                "<p>The point that validation chose for each row, its certificate, and its {} on the test "
                "users less that of the row that is best on validation, and less that of popularity: paired "
                "t tests, p after Holm's correction over the data set's rows, and over all rows.</p>\n",
                metric);
  text += fmt::format("<p>{}</p>\n", html_text(certificate_terms()));
  if (const std::string popular = popularity_finding(results); !popular.empty())
    text += fmt::format("<p>{} in {} (p &lt; 0.05).</p>\n", html_text(popular), metric);
  return text + data_tables_html(results);
}

std::string body(const StudyResults& results) {
  std::string text = fmt::format(
      "<header>\n<p class=\"kicker\">A {} by Poise: does weighting help?</p>\n<h1>{}</h1>\n<p>{}</p>\n",
      results.of_search ? "search" : "study", html_text(headline(results)),
      html_text(headline_terms(results)));
  if (const std::string open = unfinished_finding(results); !open.empty())
    text += fmt::format("<p class=\"unfinished\">{}</p>\n", html_text(open));
  const std::string findings = html_findings(results, [&](const StudyData& part) {
    const std::string best = best_finding(results, part.name);
    return best.empty() ? "" : fmt::format("<li class=\"most\">{}</li>\n", html_text(best));
  });
  if (!findings.empty()) text += "<div class=\"conclusions\">\n" + findings + "</div>\n";
  text += fmt::format(
      "<nav><a href=\"#tables\">Tables</a> {}{}<a href=\"#plots\">Plots</a> <a href=\"#points\">Every "
      "row</a> <a href=\"#data\">Data and options</a></nav>\n</header>\n<main>\n",
      results.pairs.empty() ? "" : "<a href=\"#pairs\">Differences</a> ",
      has_beyond(results) ? "<a href=\"#beyond\">Beyond accuracy</a> " : "");
  text += tables(results);
  if (!results.pairs.empty())
    text += html_section(
        "pairs", "Weighted less unweighted",
        "<p>The mean over the same test users of a row less its unweighted row, with the 95 % interval and p "
        "of a paired t test, not corrected for the number of comparisons. Coloured where p &lt; 0.05.</p>\n" +
            pairs_html(results));
  if (has_beyond(results)) {
    const std::string finding = beyond_finding(results);
    text += html_section(
        "beyond", "What is recommended, beyond accuracy",
        fmt::format("{}<p>{}</p>\n{}", finding.empty() ? "" : fmt::format("<p>{}.</p>\n", html_text(finding)),
                    html_text(beyond_terms()), beyond_html(results)));
  }
  text += plots(results);
  const std::string certified = certificate_finding(results);
  text += html_section("points", certified.empty() ? "Every row" : certified, every_row(results));
  text += html_section("data", "Data", data_summary_html(results));
  text += html_section("options", "Options, version, time",
                       html_options(results, {{"points", grouped(std::ssize(results.points))}}));
  return text +
         "</main>\n<footer><p>Made by Poise. Plots by Vega (BSD 3-clause), included in this file with its "
         "licence.</p></footer>\n";
}

}  // namespace

std::string study_html(const StudyResults& results) {
  std::string page = html_head(scripts_policy, headline(results)) + body(results);
  page +=
      fmt::format("<script type=\"application/json\" id=\"study-data\">{}</script>\n", page_data(results));
  page +=
      fmt::format("<script type=\"text/plain\" id=\"vega-licence\">\n{}</script>\n", assets::vega_licence);
  page += fmt::format("<script>\n{}</script>\n<script>\n{}</script>\n</body>\n</html>\n", assets::vega_js,
                      assets::page_js);
  return page;
}

}  // namespace poise
