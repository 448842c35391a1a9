#include "recommend_output.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "poise/base/csv.hpp"
#include "poise/recommend/recommendation.hpp"
#include "poise/recommend/titles.hpp"

#include "option_values.hpp"
#include "standard_streams.hpp"

namespace poise::app {

namespace {

constexpr std::size_t reasons_in_table = 3;
constexpr std::size_t flush_bytes = std::size_t{1} << 20;

std::string_view title_of(const ItemTable* titles, std::string_view item) {
  return titles != nullptr ? titles->title_of(item) : std::string_view();
}

/// A title on one line.
std::string on_one_line(std::string_view title) {
  std::string text(title);
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return text;
}

std::string table_line(std::int64_t rank, std::string_view item, float score, std::string_view title) {
  if (title.empty()) return fmt::format("{:>4}  {:<24} {:.6g}\n", rank, item, score);
  return fmt::format("{:>4}  {:<24} {:<11.6g} {}\n", rank, item, score, on_one_line(title));
}

/// Some of the features that a recommended item and one of the history share.
std::string features_text(std::span<const std::string_view> shared) {
  constexpr std::size_t most = 3;
  if (shared.empty()) return "";
  std::string text;
  for (const std::string_view name : shared.first(std::min(most, shared.size())))
    text += fmt::format("{}{}", text.empty() ? " (" : ", ", on_one_line(name));
  return text + (shared.size() > most ? fmt::format(", {} more)", shared.size() - most) : ")");
}

std::string to_table(const std::vector<Recommendation>& list, const Ids& items, const ItemTable* titles) {
  std::string text;
  std::int64_t rank = 0;
  for (const Recommendation& recommendation : list) {
    text +=
        table_line(++rank, recommendation.item, recommendation.score, title_of(titles, recommendation.item));
    const std::size_t shown = std::min(recommendation.because.size(), reasons_in_table);
    for (std::size_t k = 0; k < shown; ++k) {
      const Contribution& reason = recommendation.because[k];
      const std::string_view item = items[reason.item];
      const std::string_view title = title_of(titles, item);
      text += fmt::format("{}{} {:.4g}", k == 0 ? "        because of " : ", ",
                          title.empty() ? std::string(item) : on_one_line(title), reason.contribution);
      if (!recommendation.shared.empty()) text += features_text(recommendation.shared[k]);
    }
    if (shown < recommendation.because.size())
      text += fmt::format(" ({} of {} in the history)", shown, recommendation.because.size());
    if (shown > 0) text += "\n";
  }
  return text;
}

std::string to_csv(const std::vector<Recommendation>& list, const std::string& prefix,
                   const ItemTable* titles) {
  std::string text;
  for (const Recommendation& recommendation : list) {
    text += fmt::format("{}{},{}", prefix, csv_field(recommendation.item), recommendation.score);
    if (titles != nullptr) text += "," + csv_field(titles->title_of(recommendation.item));
    text += "\n";
  }
  return text;
}

std::string csv_header(const char* columns, const ItemTable* titles) {
  return fmt::format("{}{}\n", columns, titles != nullptr ? ",title" : "");
}

void add_titles(const std::vector<Recommendation>& list, const Ids& items, Titles& titles) {
  for (const Recommendation& recommendation : list) {
    titles.add(recommendation.item);
    for (const Contribution& reason : recommendation.because) titles.add(items[reason.item]);
  }
}

}  // namespace

void add_format_option(CLI::App& parser, std::string& format) {
  parser.add_option("--format", format, "What is printed: table, csv or json")
      ->check(one_of({"table", "csv", "json"}))
      ->capture_default_str();
}

OutputFormat output_format(const std::string& format, const Context& context) {
  if (context.json || format == "json") return OutputFormat::json;
  return format == "csv" ? OutputFormat::csv : OutputFormat::table;
}

void add_titles_option(CLI::App& parser, std::filesystem::path& titles) {
  parser
      .add_option("--titles", titles,
                  "csv with a header and titles to show:\nid, title and any further columns")
      ->type_name("FILE");
}

std::unique_ptr<const ItemTable> read_titles(const std::filesystem::path& path) {
  return path.empty() ? nullptr : ItemTable::read(path);
}

void say_if_untitled(const ItemTable& titles, const std::filesystem::path& path, const Ids& items,
                     const Context& context) {
  for (std::int64_t item = 0; item < items.size(); ++item) {
    if (!titles.title_of(items[item]).empty()) return;
  }
  context.say(
      fmt::format("none of the model's items has a title in {}: its ids are others, such as '{}' for '{}'",
                  path.string(), titles.size() > 0 ? titles.id(0) : std::string_view(),
                  items.size() > 0 ? items[0] : std::string_view()));
}

void print_recommendations(const LoadedModel& model, const RecommendHistories& input, double dislike_share,
                           const RankedLists& lists, bool explain, OutputFormat format,
                           const ItemTable* titles) {
  const Explained explained = explain ? Explained::yes : Explained::no;
  const Ids& items = model.info.items;
  const bool batch = input.batch;
  Titles named(titles);
  std::string text;
  if (format == OutputFormat::csv) text = csv_header(batch ? "user,item,score" : "item,score", titles);
  if (format == OutputFormat::json && batch) text = "{\"users\":[";
  for (std::int64_t row = 0; row < lists.rows(); ++row) {
    const CsrView histories = input.histories.view();
    const auto list = recommendations_of(*model.scorer, items, histories.row(row), histories.row_values(row),
                                         lists.items(row), lists.scores(row), explained, model.info.features,
                                         input.disliked.view().row(row), dislike_share);
    const std::string_view user = batch ? input.users[row] : std::string_view();
    if (format == OutputFormat::json) {
      Json result;
      if (batch) result["user"] = user;
      result["recommendations"] = to_json(list, items, explained);
      text += (row > 0 ? "," : "") + to_text(result);
      add_titles(list, items, named);
    } else if (format == OutputFormat::csv) {
      text += to_csv(list, batch ? csv_field(user) + "," : "", titles);
    } else {
      if (batch) text += fmt::format("{}\n", user);
      text += to_table(list, items, titles);
    }
    if (text.size() < flush_bytes || !batch) continue;
    write_stdout(text);
    text.clear();
  }
  if (format == OutputFormat::json) {
    if (batch)
      text += "]";
    else
      text.pop_back();  // the brace, which titles come before
    text += named.text() + "}\n";
  }
  write_stdout(text);
}

void print_similar(const Ids& items, std::int32_t item, const RankedLists& list, OutputFormat format,
                   const ItemTable* titles) {
  std::vector<Recommendation> similar;
  for (std::int64_t r = 0; r < list.size(0); ++r)
    similar.push_back({.item = items[list.items(0)[r]], .score = list.scores(0)[r], .because = {}});
  if (format == OutputFormat::json) {
    Titles named(titles);
    named.add(items[item]);
    add_titles(similar, items, named);
    std::string text = to_text({{"item", items[item]}, {"similar", to_json(similar, items, Explained::no)}});
    text.pop_back();  // the brace, which titles come before
    write_stdout(text + named.text() + "}\n");
  } else {
    write_stdout(format == OutputFormat::csv ? csv_header("item,score", titles) + to_csv(similar, "", titles)
                                             : to_table(similar, items, titles));
  }
}

}  // namespace poise::app
