#include <algorithm>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "poise/data/dataset_file.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/train/model_file.hpp"

#include "command.hpp"
#include "dataset_report.hpp"

namespace poise::app {

namespace {

void show_data(const std::filesystem::path& path, const Context& context) {
  const LoadedDataset data = read_dataset(path, context.execution);
  Json result = dataset_json(data.dataset);
  result["kind"] = "data";
  result["split"] = to_string(data.dataset.split);
  result["values"] = !data.dataset.train.values.empty();
  result["checksum"] = data.checksum;
  context.print(result,
                fmt::format("prepared data, split: {}, checksum {}\n{}", to_string(data.dataset.split),
                            data.checksum, dataset_text(data.dataset)));
}

/// All values of the report, one per line; those inside an object as `object.name`.
std::string report_text(const Json& report) {
  std::string text;
  const Json values = report.flatten();
  for (const auto& [path, value] : values.items()) {
    if (!value.is_primitive() || value.is_null() || path.empty()) continue;
    std::string name = path.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    text += fmt::format("  {:<24} {}\n", name, value.is_string() ? value.get<std::string>() : to_text(value));
  }
  return text.empty() ? text : "trained:\n" + text;
}

std::int64_t largest_column(CsrView B) {
  const std::vector<std::int64_t> counts = column_counts(B);
  return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
}

void show_model(const std::filesystem::path& path, const Context& context) {
  const LoadedModel model = read_model(path, context.execution.threads);
  const Json report = Json::parse(model.info.report);
  Json result = {{"kind", "model"},
                 {"model", model.info.model},
                 {"items", model.info.items.size()},
                 {"options", model.info.options},
                 {"data_checksum", model.info.data_checksum},
                 {"report", report}};
  std::string text =
      fmt::format("{} model over {} items, trained on data with checksum {}\n", model.info.model,
                  grouped(model.info.items.size()), model.info.data_checksum);
  for (const auto& [name, value] : model.info.options) text += fmt::format("  --{} {}\n", name, value);
  const auto* const full_rank = model.as<FullRank>();
  if (full_rank != nullptr && full_rank->sparse() != nullptr) {
    const std::int64_t entries = full_rank->sparse()->entries();
    const std::int64_t per_column = largest_column(*full_rank->sparse());
    result["sparse"] = {{"entries", entries}, {"per_column", per_column}};
    text +=
        fmt::format("sparse: {} entries, at most {} in a column\n", grouped(entries), grouped(per_column));
  }
  text += report_text(report);
  context.print(result, text);
}

}  // namespace

Run setup_info(CLI::App& parser) {
  auto path = std::make_shared<std::filesystem::path>();
  parser.add_option("MODEL|DATA", *path, "A model file, or a folder of prepared data")
      ->required()
      ->type_name("FILE");
  parser.footer("Examples:\n  poise info ml-20m.data\n  poise info popularity.model --json");
  return [path](const Context& context) {
    if (std::filesystem::is_directory(*path)) {
      show_data(*path, context);
    } else {
      show_model(*path, context);
    }
  };
}

}  // namespace poise::app
