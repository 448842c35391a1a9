#include <optional>
#include <system_error>

#include <nlohmann/json.hpp>

#include "model.hpp"

namespace poise::python {

using Json = nlohmann::ordered_json;

std::function<KeptInverse()> kept_inverse_of(const Model& model, int threads) {
  if (model.inverse) return [inverse = model.inverse] { return *inverse; };
  const Json report = Json::parse(model.info.report);
  if (!report.contains(kept_inverse_key) || model.file.empty()) return {};
  return [&model, threads, checksum = report.at(kept_inverse_key).get<std::string>()] {
    return read_kept_inverse(model.file, checksum, model.info.items.size(), threads);
  };
}

void save_model(const Model& model, const std::filesystem::path& path, int threads) {
  ModelInfo info = model.info;
  Json report = Json::parse(info.report);
  std::optional<StagedInverse> staged;
  std::error_code ignored;
  const bool there = model.inverse || std::filesystem::exists(kept_inverse_path(model.file), ignored);
  const auto kept = there ? kept_inverse_of(model, threads) : nullptr;
  if (kept) {
    staged.emplace(path, kept(), threads);
    report[kept_inverse_key] = staged->checksum();
    info.report = report.dump();
  } else if (report.erase(kept_inverse_key) > 0) {
    info.report = report.dump();
  }
  write_model(path, info, *model.scorer, threads);
  if (staged) staged->publish();
}

}  // namespace poise::python
