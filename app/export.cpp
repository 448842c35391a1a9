#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/storage/atomic_file.hpp"
#include "poise/storage/npy.hpp"
#include "poise/train/model_file.hpp"

#include "command.hpp"
#include "output_check.hpp"

namespace poise::app {

namespace {

struct ExportFlags {
  std::filesystem::path model;
  std::filesystem::path item_factors;
  std::filesystem::path item_ids;
};

/// One id per line; an id that contains a line end is refused, because it would look like two.
std::string id_lines(const Ids& items, const std::filesystem::path& model) {
  std::string lines;
  for (std::int64_t i = 0; i < items.size(); ++i) {
    const std::string_view id = items[i];
    if (id.find('\n') != std::string_view::npos)
      fail(ErrorKind::input, "item number {} of {} has an id with a line break, which --item-ids cannot hold",
           i, model.string());
    lines += id;
    lines += '\n';
  }
  return lines;
}

void run_export(const ExportFlags& options, const Context& context) {
  const LoadedModel model = read_model(options.model, context.execution.threads);
  const auto factors = model.item_factors();
  if (!factors) {
    fail(ErrorKind::usage, "{} is a {} model, which has no item factors; awmf and wmf models have",
         options.model.string(), model.info.model);
  }
  if (!options.item_ids.empty()) {
    const std::string lines = id_lines(model.info.items, options.model);
    check_file_can_be_written(options.item_factors);
    AtomicFile file(options.item_ids);
    file.write(lines);
    file.commit();
  }
  write_npy(options.item_factors, *factors);
  context.print({{"items", factors->rows}, {"rank", factors->cols}},
                fmt::format("{} items x {} factors\n", grouped(factors->rows), factors->cols));
}

}  // namespace

Run setup_export(CLI::App& parser) {
  auto options = std::make_shared<ExportFlags>();
  parser.add_option("MODEL", options->model, "Model file, of a low-rank model")
      ->required()
      ->type_name("FILE");
  parser
      .add_option("--item-factors", options->item_factors,
                  "NumPy file to write: V, items x rank, float32, rows in the model's order")
      ->required()
      ->type_name("FILE");
  parser.add_option("--item-ids", options->item_ids, "Text file to write: the id of each row")
      ->type_name("FILE");
  parser.footer(
      "Examples:\n"
      "  poise export wmf.model --item-factors factors.npy --item-ids items.txt");
  return [options](const Context& context) { run_export(*options, context); };
}

}  // namespace poise::app
