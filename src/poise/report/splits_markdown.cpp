#include <fmt/format.h>

#include "poise/report/findings.hpp"
#include "poise/report/pipe_table.hpp"
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
      cell.test->standard_error ? " ±" + accuracy(*cell.test->standard_error) : std::string();
  const int found = cell.pair ? direction(*cell.pair) : 0;
  const char* const arrow = found == 0 ? "" : found > 0 ? " ↑" : " ↓";
  return (cell.best ? "**" + mean + "**" : mean) + spread + arrow;
}

std::string rank_table(const SplitsResults& results, const StudyTable& table) {
  const std::size_t metrics = results.means.metrics.size();
  std::string alignment = "ll";
  std::vector<std::string> names = {"", ""};
  std::vector<std::string> heads = {"Model", ""};
  for (const StudyData* data : table.data) {
    alignment += std::string(metrics + 2, 'r');
    names.push_back(markdown_text(data->name));
    names.resize(names.size() + metrics + 1);
    for (const std::string& metric : results.means.metrics) heads.push_back(metric_name(metric));
    heads.emplace_back("alpha");
    heads.emplace_back("lambda");
  }
  PipeTable text(alignment);
  text.add(names);
  text.add(heads);
  for (const TableGroup& group : table.groups) {
    for (const TableRow& row : group.rows) {
      std::vector<std::string> cells = {
          &row == &group.rows.front() ? markdown_text(numbered_name(group.model)) : "",
          kind_name(group.model, row.kind)};
      for (const TableEntry& entry : row.entries) {
        for (const TableCell& cell : entry.cells) cells.push_back(estimate(cell));
        const bool trained = entry.row && !is_baseline(group.model);
        cells.push_back(trained ? range_text(splits_of(results, *entry.row).alpha) : "");
        cells.push_back(trained ? range_text(splits_of(results, *entry.row).lambda) : "");
      }
      text.add(std::move(cells));
    }
  }
  return text.text();
}

std::string pairs_table(const SplitsResults& results) {
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

std::string splits_table(const SplitsResults& results) {
  PipeTable text("rlrrrrr");
  text.add({"Seed", "Data", "Items", "Training users", "Interactions", "Validation users", "Test users"});
  for (std::size_t k = 0; k < results.seeds.size(); ++k) {
    for (const StudyData& data : results.data[k])
      text.add({fmt::format("{}", results.seeds[k]), markdown_text(data.name), grouped(data.items),
                grouped(data.train_users), grouped(data.interactions), grouped(data.validation_users),
                grouped(data.test_users)});
  }
  return text.text();
}

}  // namespace

std::string splits_markdown(const SplitsResults& results) {
  const StudyResults& means = results.means;
  std::string text = fmt::format("# {}\n\n{}\n\n", splits_headline(results), splits_terms(results));
  for (const StudyConclusion& conclusion : means.conclusions)
    text += fmt::format("- **{}{}**: {}\n", markdown_text(conclusion.data),
                        conclusion.overall ? "" : ", " + rank_name(conclusion.rank),
                        markdown_text(conclusion.sentence));
  for (const StudyData& part : means.data) {
    if (const std::string best = best_row_text(results, part.name); !best.empty())
      text += fmt::format("- **{}**: {}\n", markdown_text(part.name), markdown_text(best));
    if (const std::string note = validation_note(part); !note.empty())
      text += fmt::format("- **{}**: {}\n", markdown_text(part.name), note);
  }
  if (results.seeds.empty()) return text;
  text += '\n';
  for (const auto& [rank, table] : tables_by_rank(means))
    text += fmt::format("## {}\n\n{}\n", rank_heading(rank), rank_table(results, table));
  text +=
      "Means over splits ± spread (standard deviation over splits). ↑ and ↓: the interval of the mean "
      "difference "
      "from the unweighted row is above or below 0. Bold: alone the best of a model's rows in the digits "
      "shown. alpha and lambda: what the splits chose, from least to most.\n\n";
  if (!results.pairs.empty())
    text += fmt::format("## {} less the unweighted row's, over splits\n\n{}\n", metric_name(means.choice),
                        pairs_table(results));
  text += fmt::format("## Splits\n\n{}\n", splits_table(results));
  if (const std::string finding = popularity_over_splits(results); !finding.empty()) text += finding + ".\n";
  return text;
}

}  // namespace poise
