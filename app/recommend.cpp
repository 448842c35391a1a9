#include "poise/recommend/recommend.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/io/model_file.hpp"

#include "command.hpp"
#include "csv.hpp"

namespace poise::app {

namespace {

struct Options {
  std::filesystem::path model;
  std::vector<std::string> items;
  std::filesystem::path history;
  std::int64_t k = 20;
  std::filesystem::path exclude;
  std::filesystem::path only;
  std::string format = "table";
};

using ItemIndex = std::unordered_map<std::string_view, std::int32_t>;

/// One id per line; blank lines are ignored.
std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    fail(ErrorKind::input, "cannot read {}; it should hold one item id per line", path.string());
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

std::vector<std::int32_t> known_items(const std::vector<std::string>& ids, const ItemIndex& index) {
  std::vector<std::int32_t> items;
  for (const std::string& id : ids) {
    const auto found = index.find(id);
    if (found == index.end()) fail(ErrorKind::input, "the model does not know the item '{}'", id);
    items.push_back(found->second);
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

/// As known_items, but ids that the model does not know are passed over: a list may be wider than a
/// catalogue.
std::vector<std::int32_t> listed_items(const std::filesystem::path& path, const ItemIndex& index,
                                       const Context& context) {
  std::vector<std::string> ids = read_lines(path);
  const auto unknown = std::erase_if(ids, [&](const std::string& id) { return !index.contains(id); });
  if (unknown > 0) context.say(fmt::format("{}: {} ids are not items of the model", path.string(), unknown));
  return known_items(ids, index);
}

void run(const Options& options, const Context& context) {
  const LoadedModel model = read_model(options.model);
  ItemIndex index;
  for (std::int64_t i = 0; i < model.info.items.size(); ++i)
    index.emplace(model.info.items[i], static_cast<std::int32_t>(i));
  const std::vector<std::int32_t> history =
      known_items(options.history.empty() ? options.items : read_lines(options.history), index);
  RecommendOptions recommendation{.k = options.k};
  if (!options.exclude.empty()) recommendation.exclude = listed_items(options.exclude, index, context);
  if (!options.only.empty()) recommendation.only = listed_items(options.only, index, context);

  const Csr histories{.rows = 1,
                      .cols = model.info.items.size(),
                      .offsets = {0, static_cast<std::int64_t>(history.size())},
                      .indices = history,
                      .values = {}};
  const RankedLists lists = recommend(*model.scorer, histories.view(), recommendation, context.execution);

  Json rows = Json::array();
  std::string table;
  std::string csv = "item,score\n";
  for (std::int64_t r = 0; r < lists.size(0); ++r) {
    const std::string_view item = model.info.items[lists.items(0)[r]];
    const float score = lists.scores(0)[r];
    rows.push_back({{"item", item}, {"score", score}});
    table += fmt::format("{:>4}  {:<24} {:.6g}\n", r + 1, item, score);
    csv += fmt::format("{},{}\n", csv_field(item), score);
  }
  const Json result = {{"recommendations", rows}};
  if (options.format == "json") {
    Context as_json = context;
    as_json.json = true;
    as_json.print(result, "");
  } else {
    context.print(result, options.format == "csv" ? csv : table);
  }
}

}  // namespace

Run setup_recommend(CLI::App& parser) {
  auto options = std::make_shared<Options>();
  parser.add_option("MODEL", options->model, "Model file")->required();
  auto* sources = parser.add_option_group("History", "what the user has already");
  sources->add_option("--items", options->items, "Item ids, separated by commas")->delimiter(',');
  sources->add_option("--history", options->history, "File with one item id per line");
  sources->require_option(1);
  parser.add_option("-k", options->k, "How many")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  parser.add_option("--exclude", options->exclude, "File of item ids never to recommend, one per line");
  parser.add_option("--only", options->only, "File of item ids to choose from, one per line");
  parser.add_option("--format", options->format, "table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
  parser.footer(
      "Examples:\n"
      "  poise recommend popularity.model --items 85123A,22423 -k 10\n"
      "  poise recommend popularity.model --history bought.txt --exclude sold_out.txt --format csv");
  return [options](const Context& context) { run(*options, context); };
}

}  // namespace poise::app
