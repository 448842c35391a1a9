#include <fmt/format.h>

#include "poise/report/markdown.hpp"
#include "poise/report/pipe_table.hpp"
#include "poise/report/report.hpp"
#include "poise/report/splits_text.hpp"
#include "poise/report/text.hpp"

namespace poise {
namespace {

using namespace report;

std::string markdown_split_pairs(const SplitsResults& results) {
  PipeTable text("lrllrrrr");
  text.add({"Data", "Rank", "Model", "", "Difference", "spread", "positive in", "95 % interval"});
  for (std::size_t k = 0; k < results.pairs.size(); ++k) {
    const StudyPair& pair = results.means.pairs[k];
    const SplitPair& all = results.pairs[k];
    if (pair.metric != results.means.choice) continue;
    text.add({markdown_text(pair.data), rank_number(pair.model), markdown_text(numbered_name(pair.model)),
              std::string(to_string(pair.kind)), difference(pair.test.difference),
              all.spread ? fmt::format("{:.4f}", *all.spread) : "",
              fmt::format("{} of {}", all.positive, all.splits),
              pair.complete ? interval_text(pair.test) : "search not complete"});
  }
  return text.text();
}

std::string markdown_splits(const SplitsResults& results) {
  PipeTable text("rlrrrrr");
  text.add({results.cuts.empty() ? "Seed" : "Cut", "Data", "Items", "Training users", "Interactions",
            "Validation users", "Test users"});
  for (std::size_t k = 0; k < results.seeds.size(); ++k) {
    for (const StudyData& data : results.data[k])
      text.add({split_name(results, results.seeds[k]), markdown_text(data.name), grouped(data.items),
                grouped(data.train_users), grouped(data.interactions), grouped(data.validation_users),
                grouped(data.test_users)});
  }
  return text.text();
}

}  // namespace

std::string splits_markdown(const SplitsResults& results) {
  const StudyResults& means = results.means;
  std::string text = fmt::format("# {}\n\n{}\n\n", splits_headline(results), splits_terms(results));
  text += markdown_findings(means, [&](const std::string& data) { return best_row_text(results, data); });
  if (results.seeds.empty()) return text;
  text += '\n';
  const RankColumns columns{
      .alpha = [&](const StudyRow& row) { return range_text(splits_of(results, row).alpha); },
      .lambda = [&](const StudyRow& row) { return range_text(splits_of(results, row).lambda); }};
  for (const auto& [rank, table] : tables_by_rank(means))
    text += fmt::format("## {}\n\n{}\n", rank_heading(rank), markdown_rank_table(means, table, columns));
  text +=
      "Means over splits ± spread (standard deviation over splits). ↑ and ↓: the interval of the mean "
      "difference from the unweighted row is above or below 0. Bold: alone the best of a model's rows in the "
      "digits shown. alpha and lambda: what the splits chose, from least to most.\n\n";
  if (!results.pairs.empty())
    text += fmt::format("## {} less the unweighted row's, over splits\n\n{}\n", metric_name(means.choice),
                        markdown_split_pairs(results));
  text += fmt::format("## Splits\n\n{}\n", markdown_splits(results));
  if (const std::string finding = popularity_over_splits(results); !finding.empty()) text += finding + ".\n";
  return text;
}

}  // namespace poise
