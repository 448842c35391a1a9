#include <fmt/format.h>

#include "poise/report/latex.hpp"
#include "poise/report/report.hpp"
#include "poise/report/splits_text.hpp"
#include "poise/report/text.hpp"

namespace poise {
namespace {

using namespace report;

std::string splits_caption(const SplitsResults& results, const std::optional<std::int64_t>& rank) {
  return fmt::format(
      "Ranking accuracies at {}: means over {} splits ({}s {}) and their standard deviations; arrows where "
      "the 95\\,\\% interval of the mean difference from the unweighted row is on one side of 0; bold where "
      "a row is alone the best of its model in the digits shown.",
      rank_name(rank), results.seeds.size(), split_kind(results), seed_list(results));
}

std::string latex_split_pairs(const SplitsResults& results) {
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
  text +=
      latex_findings(results.means, [&](const std::string& data) { return best_row_text(results, data); });
  const RankColumns columns{
      .alpha = [&](const StudyRow& row) { return range_text(splits_of(results, row).alpha); }};
  for (const auto& [rank, table] : tables_by_rank(results.means))
    text += latex_rank_table(results.means, table, columns, splits_caption(results, rank));
  if (!results.pairs.empty()) text += latex_split_pairs(results);
  return text + "\\end{document}\n";
}

}  // namespace poise
