#include "poise/recommend/similar.hpp"

#include <filesystem>
#include <string>

#include "poise/data/item_index.hpp"
#include "poise/train/model_file.hpp"

#include "command.hpp"
#include "option_values.hpp"
#include "recommend_output.hpp"

namespace poise::app {

namespace {

struct SimilarFlags {
  std::filesystem::path model;
  std::string item;
  std::int64_t k = 20;
  std::filesystem::path titles;
  std::string format = "table";
};

void run_similar(const SimilarFlags& options, const Context& context) {
  const auto titles = read_titles(options.titles);
  const LoadedModel model = read_model(options.model, context.execution.threads);
  if (titles) say_if_untitled(*titles, options.titles, model.info.items, context);
  const std::int32_t item = ItemIndex(model.info.items).at(options.item);
  const RankedLists list = similar(*model.scorer, item, options.k);
  print_similar(model.info.items, item, list, output_format(options.format, context), titles.get());
}

}  // namespace

Run setup_similar(CLI::App& parser) {
  auto options = std::make_shared<SimilarFlags>();
  parser.add_option("MODEL", options->model, "Model file, of a model that uses the history")
      ->required()
      ->type_name("FILE");
  parser.add_option("--item", options->item, "Item id")->required();
  parser.add_option("-k", options->k, "How many items")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  add_titles_option(parser, options->titles);
  add_format_option(parser, options->format);
  parser.footer(
      "The score is that of the other item for a history of this item alone (full rank: its row of\n"
      "B; awmf: of U V'); for wmf it is the cosine of the items' factors.\n\n"
      "Examples:\n"
      "  poise similar ease.model --item 85123A --titles titles.csv\n"
      "  poise similar ease.model --item 85123A -k 5 --json");
  return [options](const Context& context) { run_similar(*options, context); };
}

}  // namespace poise::app
