#include "poise/io/model_file.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "poise/base/error.hpp"
#include "poise/io/container.hpp"

namespace poise {

namespace {

constexpr const char* format_name = "poise-model";
constexpr const char* format_version = "1";

template <class T>
Tensor tensor_of(const char* name, ElementType type, const T& values, std::vector<std::int64_t> shape) {
  return {name, type, std::move(shape), std::as_bytes(std::span(values.data(), values.size()))};
}

void write(const std::filesystem::path& path, const ModelInfo& info, std::vector<Tensor> tensors) {
  const Metadata metadata = {{"format", format_name},
                             {"version", format_version},
                             {"model", info.model},
                             {"options", nlohmann::json(info.options).dump()},
                             {"data_checksum", info.data_checksum},
                             {"report", info.report}};
  const auto size_of = [](const auto& values) { return static_cast<std::int64_t>(values.size()); };
  const auto& offsets = info.items.offsets();
  const auto& bytes = info.items.bytes();
  tensors.push_back(tensor_of("item_id_offsets", ElementType::i64, offsets, {size_of(offsets)}));
  tensors.push_back(tensor_of("item_ids", ElementType::u8, bytes, {size_of(bytes)}));
  write_container(path, metadata, tensors);
}

Ids read_item_ids(const Container& file) {
  const auto offsets = file.elements<std::int64_t>("item_id_offsets");
  const auto bytes = file.elements<std::uint8_t>("item_ids");
  const bool sound = !offsets.empty() && offsets.front() == 0 &&
                     offsets.back() == static_cast<std::int64_t>(bytes.size()) &&
                     std::is_sorted(offsets.begin(), offsets.end());
  if (!sound) fail(ErrorKind::input, "{} is damaged: its item ids do not fit together", file.name());
  return {std::string(bytes.begin(), bytes.end()), std::vector<std::int64_t>(offsets.begin(), offsets.end())};
}

std::map<std::string, std::string> read_options(const Container& file) {
  try {
    return nlohmann::json::parse(file.metadata("options")).get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::input, "{} is damaged: its options cannot be read", file.name());
  }
}

std::unique_ptr<Scorer> read_popularity(const Container& file) {
  const auto counts = file.elements<float>("counts");
  if (!std::all_of(counts.begin(), counts.end(), [](float count) { return std::isfinite(count); })) {
    fail(ErrorKind::input, "{} is damaged: a count is not a number", file.name());
  }
  return std::make_unique<Popularity>(std::vector<float>(counts.begin(), counts.end()));
}

}  // namespace

void write_model(const std::filesystem::path& path, const ModelInfo& info, const Popularity& model) {
  write(path, info, {tensor_of("counts", ElementType::f32, model.counts(), {model.items()})});
}

LoadedModel read_model(const std::filesystem::path& path) {
  const Container file = Container::open(path);
  return decode_model(file);
}

LoadedModel decode_model(const Container& file) {
  const auto& metadata = file.metadata();
  const auto format = metadata.find("format");
  if (format == metadata.end() || format->second != format_name) {
    fail(ErrorKind::input, "{} is not a Poise model; `poise train` makes one", file.name());
  }
  if (file.metadata("version") != format_version) {
    fail(ErrorKind::input, "{} was written by a newer Poise (model version {}); train it again or upgrade",
         file.name(), file.metadata("version"));
  }
  LoadedModel loaded;
  loaded.info = {.model = file.metadata("model"),
                 .options = read_options(file),
                 .data_checksum = file.metadata("data_checksum"),
                 .report = file.metadata("report"),
                 .items = read_item_ids(file)};
  if (!nlohmann::json::accept(loaded.info.report)) {
    fail(ErrorKind::input, "{} is damaged: its report cannot be read", file.name());
  }
  if (loaded.info.model != "popularity") {
    fail(ErrorKind::input, "{} holds a model of the unknown kind '{}'", file.name(), loaded.info.model);
  }
  loaded.scorer = read_popularity(file);
  if (loaded.scorer->items() != loaded.info.items.size()) {
    fail(ErrorKind::input, "{} is damaged: {} items, but {} ids", file.name(), loaded.scorer->items(),
         loaded.info.items.size());
  }
  return loaded;
}

}  // namespace poise
