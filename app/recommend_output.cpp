#include "recommend_output.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "poise/base/csv.hpp"
#include "poise/recommend/recommendation.hpp"

#include "option_values.hpp"
#include "standard_streams.hpp"

namespace poise::app {

namespace {

constexpr std::size_t reasons_in_table = 3;
constexpr std::size_t flush_bytes = std::size_t{1} << 20;

std::string table_line(std::int64_t rank, std::string_view item, float score) {
  return fmt::format("{:>4}  {:<24} {:.6g}\n", rank, item, score);
}

std::string to_table(const std::vector<Recommendation>& list, const Ids& items) {
  std::string text;
  std::int64_t rank = 0;
  for (const Recommendation& recommendation : list) {
    text += table_line(++rank, recommendation.item, recommendation.score);
    const std::size_t shown = std::min(recommendation.because.size(), reasons_in_table);
    for (std::size_t k = 0; k < shown; ++k) {
      const Contribution& reason = recommendation.because[k];
      text += fmt::format("{}{} {:.4g}", k == 0 ? "        because of " : ", ", items[reason.item],
                          reason.contribution);
    }
    if (shown < recommendation.because.size())
      text += fmt::format(" ({} of {} in the history)", shown, recommendation.because.size());
    if (shown > 0) text += "\n";
  }
  return text;
}

std::string to_csv(const std::vector<Recommendation>& list, const std::string& prefix) {
  std::string text;
  for (const Recommendation& recommendation : list)
    text += fmt::format("{}{},{}\n", prefix, csv_field(recommendation.item), recommendation.score);
  return text;
}

}  // namespace

void add_format_option(CLI::App& parser, std::string& format) {
  parser.add_option("--format", format, "table, csv or json")
      ->check(one_of({"table", "csv", "json"}))
      ->capture_default_str();
}

OutputFormat output_format(const std::string& format, const Context& context) {
  if (context.json || format == "json") return OutputFormat::json;
  return format == "csv" ? OutputFormat::csv : OutputFormat::table;
}

void print_recommendations(const LoadedModel& model, const RecommendHistories& input,
                           const RankedLists& lists, bool explain, OutputFormat format) {
  const Explained explained = explain ? Explained::yes : Explained::no;
  const Ids& items = model.info.items;
  const bool batch = input.batch;
  std::string text;
  if (format == OutputFormat::csv) text = batch ? "user,item,score\n" : "item,score\n";
  if (format == OutputFormat::json && batch) text = "{\"users\":[";
  for (std::int64_t row = 0; row < lists.rows(); ++row) {
    const CsrView histories = input.histories.view();
    const auto list = recommendations_of(*model.scorer, items, histories.row(row), histories.row_values(row),
                                         lists.items(row), lists.scores(row), explained);
    const std::string_view user = batch ? input.users[row] : std::string_view();
    if (format == OutputFormat::json) {
      Json result;
      if (batch) result["user"] = user;
      result["recommendations"] = to_json(list, items, explained);
      text += (row > 0 ? "," : "") + to_text(result);
    } else if (format == OutputFormat::csv) {
      text += to_csv(list, batch ? csv_field(user) + "," : "");
    } else {
      if (batch) text += fmt::format("{}\n", user);
      text += to_table(list, items);
    }
    if (text.size() < flush_bytes) continue;
    write_stdout(text);
    text.clear();
  }
  if (format == OutputFormat::json) text += batch ? "]}\n" : "\n";
  write_stdout(text);
}

void print_similar(const Ids& items, std::int32_t item, const RankedLists& list, OutputFormat format) {
  std::vector<Recommendation> similar;
  for (std::int64_t r = 0; r < list.size(0); ++r)
    similar.push_back({.item = items[list.items(0)[r]], .score = list.scores(0)[r], .because = {}});
  if (format == OutputFormat::json) {
    write_stdout(to_text({{"item", items[item]}, {"similar", to_json(similar, items, Explained::no)}}) +
                 "\n");
  } else {
    write_stdout(format == OutputFormat::csv ? "item,score\n" + to_csv(similar, "")
                                             : to_table(similar, items));
  }
}

}  // namespace poise::app
