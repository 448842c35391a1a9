#include "poise/recommend/recommend.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/data/item_index.hpp"
#include "poise/recommend/together.hpp"
#include "poise/train/model_file.hpp"

#include "command.hpp"
#include "device.hpp"
#include "exclude_pairs.hpp"
#include "help.hpp"
#include "log_flags.hpp"
#include "option_values.hpp"
#include "ranks.hpp"
#include "recommend_histories.hpp"
#include "recommend_output.hpp"

namespace poise::app {

namespace {

struct RecommendFlags {
  std::filesystem::path model;
  std::vector<std::string> items;
  std::filesystem::path history;
  std::filesystem::path histories;
  LogFlags log;
  std::int64_t k = 20;
  std::filesystem::path exclude;
  std::filesystem::path exclude_pairs;
  std::filesystem::path only;
  std::filesystem::path titles;
  std::vector<std::string> dislikes;
  double dislike_share = 0;
  double diversify = 0;
  bool explain = false;
  std::string format = "table";
};

/// The items of a file, without ids that the model does not know: a list may be larger than the catalogue.
std::vector<std::int32_t> listed_items(const std::filesystem::path& path, const ItemIndex& index,
                                       const Context& context) {
  std::vector<std::int32_t> items;
  std::int64_t unknown = 0;
  for (const IdLine& line : read_id_lines(path)) {
    if (const auto item = index.find(line.id))
      items.push_back(*item);
    else
      ++unknown;
  }
  if (unknown > 0) context.say(fmt::format("{}: {} ids are not items of the model", path.string(), unknown));
  return items;
}

RecommendHistories histories_of(const RecommendFlags& options, const ItemIndex& index, std::int64_t items,
                                const Context& context) {
  if (!options.histories.empty()) {
    RecommendHistories histories = read_histories(options.histories, options.log, index, items, context);
    if (!options.exclude_pairs.empty()) exclude_pairs(options.exclude_pairs, index, histories, context);
    return histories;
  }
  std::vector<std::int32_t> history;
  for (const std::string& id : options.items) history.push_back(index.at(id));
  if (!options.history.empty()) {
    for (const auto& [id, line] : read_id_lines(options.history))
      history.push_back(index.at(id, fmt::format("{}:{}: ", options.history.string(), line)));
  }
  std::vector<std::int32_t> disliked;
  for (const std::string& id : options.dislikes) disliked.push_back(index.at(id));
  return one_history(history, disliked, items);
}

/// With an empty history every score is 0, and the list is the beginning of the catalogue.
void say_if_empty(const RecommendHistories& input, const Context& context) {
  const CsrView histories = input.histories.view();
  std::int64_t empty = 0;
  for (std::int64_t row = 0; row < histories.rows; ++row) empty += histories.row_size(row) == 0 ? 1 : 0;
  if (empty == 0) return;
  context.say(
      fmt::format("note: {}: every score is 0, and items come in the model's order; a popularity model ranks "
                  "them by their users",
                  input.batch ? fmt::format("{} of {} users have no history of items that the model knows",
                                            grouped(empty), grouped(histories.rows))
                              : "the history is empty"));
}

/// Equal for equal histories, and for others as good as never.
std::string fingerprint(CsrView histories) {
  const std::string_view values(reinterpret_cast<const char*>(histories.values.data()),
                                histories.values.size_bytes());
  return fmt::format("{:x} {:x}", support_fingerprint(histories), std::hash<std::string_view>()(values));
}

void run_recommend(const RecommendFlags& options, const Context& context) {
  const OutputFormat format = output_format(options.format, context);
  if (options.explain && format == OutputFormat::csv)
    fail(ErrorKind::usage, "--explain does not go with --format csv; use table or json");
  options.log.check();
  // Many users are divided among all processes.
  if (options.histories.empty() && !context.processes->first()) return;
  const auto titles = read_titles(options.titles);
  const LoadedModel model = read_model(options.model, context.execution.threads);
  if (titles) say_if_untitled(*titles, options.titles, model.info.items, context);
  const ItemIndex index(model.info.items);
  const RecommendHistories input = histories_of(options, index, model.info.items.size(), context);
  RecommendOptions recommendation{.k = options.k, .diversify = options.diversify};
  if (!options.exclude.empty()) recommendation.exclude = listed_items(options.exclude, index, context);
  if (!options.only.empty()) recommendation.only = listed_items(options.only, index, context);
  const UserRows histories(input.histories.view(), input.disliked.view(), options.dislike_share);
  note_without_dislikes(options.dislike_share, histories, context);
  recommendation.seen = input.seen.view();
  if (model.info.model != "popularity") say_if_empty(input, context);
  const auto backend = scoring_backend_for(
      [&] { return Work{.operations = model.scorer->operations(histories.items)}; }, context);
  if (input.batch) {
    check_same_data(options.model.string(), model.checksum, context);
    check_same_data(options.histories.string(), fingerprint(histories.items), context);
    check_same_data(options.histories.string(), fingerprint(histories.disliked), context);
    check_same_data(options.exclude_pairs.string(), fingerprint(recommendation.seen), context);
  }
  const RankedLists lists =
      input.batch ? recommend_together(*model.scorer, histories, recommendation, context.execution,
                                       backend.get(), *context.processes)
                  : recommend(*model.scorer, histories, recommendation, context.execution, backend.get());
  if (!context.processes->first()) return;
  print_recommendations(model, input, options.dislike_share, lists, options.explain, format, titles.get());
}

}  // namespace

Run setup_recommend(CLI::App& parser) {
  auto options = std::make_shared<RecommendFlags>();
  parser.add_option("MODEL", options->model, "Model file")->required()->type_name("FILE");
  auto* sources = parser.add_option_group("History", "what the user has already, or all users have");
  sources
      ->add_option(
          "--items", options->items,
          "Item ids that the user has, separated by commas;\nids that hold commas go into a file for "
          "--history")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ID");
  sources->add_option("--history", options->history, "File with one item id per line")->type_name("FILE");
  CLI::Option* const histories =
      sources
          ->add_option("--histories", options->histories,
                       "Log of user,item rows: recommend to every user in it,\nread as `prepare` does; "
                       "unknown items are "
                       "skipped, and what --keep-above leaves out is not recommended either")
          ->type_name("FILE");
  sources->require_option(1);
  sources->set_help_flag();
  parser
      .add_option("--dislikes", options->dislikes,
                  "Item ids that the user dislikes, separated by commas: never recommended")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ID")
      ->excludes(histories);
  add_dislike_share_option(parser, options->dislike_share);
  for (CLI::Option* const option : add_log_flags(parser, options->log)) {
    option->needs(histories);
  }
  parser.add_option("-k", options->k, "How many items")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  parser.add_option("--exclude", options->exclude, "File of item ids never to recommend, one per line")
      ->type_name("FILE");
  parser
      .add_option("--exclude-pairs", options->exclude_pairs,
                  "Log of user,item rows: items never to recommend to these users of --histories")
      ->type_name("FILE")
      ->needs(histories);
  parser.add_option("--only", options->only, "File of item ids to choose from, one per line")
      ->type_name("FILE");
  parser
      .add_option("--diversify", options->diversify,
                  "0 to 1: how much to prefer items unlike those listed\nbefore them")
      ->check(number_from(0, 1))
      ->capture_default_str();
  parser.add_flag("--explain", options->explain, "Also show what each item of the history adds to a score");
  add_titles_option(parser, options->titles);
  add_format_option(parser, options->format);
  put_into_group(parser, "Lists", {"--dislikes", "--dislike-share", "--exclude-pairs", "--diversify"});
  parser.footer(
      "Examples:\n"
      "  poise recommend ease.model --items 85123A,22423 -k 10 --explain --titles titles.csv\n"
      "  poise recommend popularity.model --history bought.txt --exclude sold_out.txt --format csv\n"
      "  poise recommend ease.model --histories shop.csv --columns customer,product -k 5 --format csv");
  return [options](const Context& context) { run_recommend(*options, context); };
}

}  // namespace poise::app
