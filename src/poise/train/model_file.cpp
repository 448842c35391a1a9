#include "poise/train/model_file.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "poise/base/error.hpp"
#include "poise/model/family.hpp"

namespace poise {

namespace {

constexpr const char* format_name = "poise-model";
constexpr const char* format_version = "1";

/// The destination of a model's container: a file, or memory.
using ModelSink = std::function<void(const Metadata&, std::span<const Tensor>)>;

void put(const ModelSink& sink, const ModelInfo& info, const Scorer& model) {
  ModelContent content = content_of(model, info.model);
  content.metadata.insert({{"format", format_name},
                           {"version", format_version},
                           {"model", info.model},
                           {"options", nlohmann::json(info.options).dump()},
                           {"data_checksum", info.data_checksum},
                           {"report", info.report}});
  const auto size_of = [](const auto& values) { return static_cast<std::int64_t>(values.size()); };
  const auto& offsets = info.items.offsets();
  const auto& bytes = info.items.bytes();
  content.tensors.push_back(tensor_of("item_id_offsets", ElementType::i64, offsets, {size_of(offsets)}));
  content.tensors.push_back(tensor_of("item_ids", ElementType::u8, bytes, {size_of(bytes)}));
  const NamedFeatures& features = info.features;
  if (features.of_items.rows > 0) {
    const auto add = [&](const char* name, ElementType type, const auto& values) {
      content.tensors.push_back(tensor_of(name, type, values, {size_of(values)}));
    };
    add("features.name_offsets", ElementType::i64, features.names.offsets());
    add("features.names", ElementType::u8, features.names.bytes());
    add("features.offsets", ElementType::i64, features.of_items.offsets);
    add("features.indices", ElementType::i32, features.of_items.indices);
  }
  sink(content.metadata, content.tensors);
}

Ids read_ids(const Container& file, const char* of_offsets, const char* of_bytes, const char* what) {
  const auto offsets = file.elements<std::int64_t>(of_offsets);
  const auto bytes = file.elements<std::uint8_t>(of_bytes);
  if (!are_offsets_of(offsets, bytes.size()))
    fail(ErrorKind::input, "{} is damaged: its {} do not fit together", file.name(), what);
  return {std::string(bytes.begin(), bytes.end()), std::vector<std::int64_t>(offsets.begin(), offsets.end())};
}

/// None in files of models that did not learn from features.
NamedFeatures read_features(const Container& file) {
  if (!file.has("features.names")) return {};
  NamedFeatures features{
      .names = read_ids(file, "features.name_offsets", "features.names", "names of features"),
      .of_items = {}};
  const auto offsets = file.elements<std::int64_t>("features.offsets");
  const auto indices = file.elements<std::int32_t>("features.indices");
  bool sound = are_offsets_of(offsets, indices.size());
  const CsrView rows{
      .rows = std::ssize(offsets) - 1, .cols = features.names.size(), .offsets = offsets, .indices = indices};
  for (std::int64_t i = 0; sound && i < rows.rows; ++i) {
    const auto row = rows.row(i);
    sound = row.empty() || (row.front() >= 0 && row.back() < rows.cols &&
                            std::ranges::adjacent_find(row, std::greater_equal<>()) == row.end());
  }
  if (!sound) fail(ErrorKind::input, "{} is damaged: its features do not fit together", file.name());
  features.of_items = copy_of(rows);
  return features;
}

std::map<std::string, std::string> read_options(const Container& file) {
  try {
    return nlohmann::json::parse(file.metadata("options")).get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::input, "{} is damaged: its options cannot be read", file.name());
  }
}

}  // namespace

NamedFeatures learnt_from(const ModelParameters& parameters, const ItemFeatures& features) {
  const bool learns = parameters.family == Family::full_rank && parameters.feature_weight > 0;
  return learns ? named(features) : NamedFeatures();
}

ModelContent content_of(const Scorer& model, std::string_view family) {
  // Two families may share a model class but write different files, so the named family is tried first.
  for (const bool named : {true, false}) {
    for (const auto& each : families()) {
      if (named && each->name != family) continue;
      if (std::optional<ModelContent> content = each->content(model)) return *std::move(content);
    }
  }
  fail(ErrorKind::usage, "this model belongs to no family and cannot be written to a file");
}

std::optional<MatrixView<const float>> LoadedModel::item_factors() const {
  for (const Tensor& tensor : content_of(*scorer, info.model).tensors) {
    if (tensor.name == "V")
      return MatrixView<const float>{.data = reinterpret_cast<const float*>(tensor.bytes.data()),
                                     .rows = tensor.shape[0],
                                     .cols = tensor.shape[1],
                                     .stride = tensor.shape[1]};
  }
  return {};
}

WriteSeconds write_model(const std::filesystem::path& path, const ModelInfo& info, const Scorer& model,
                         int threads, bool past_cache) {
  WriteSeconds seconds;
  put(
      [&](const Metadata& metadata, std::span<const Tensor> tensors) {
        seconds = write_container(path, metadata, tensors, threads, past_cache);
      },
      info, model);
  return seconds;
}

std::vector<std::byte> model_bytes(const ModelInfo& info, const Scorer& model) {
  std::vector<std::byte> bytes;
  put([&](const Metadata& metadata,
          std::span<const Tensor> tensors) { bytes = container_bytes(metadata, tensors); },
      info, model);
  return bytes;
}

LoadedModel read_model(const std::filesystem::path& path, int threads) {
  return decode_model(Container::open(path, threads), threads);
}

LoadedModel decode_model(const Container& file, int threads) {
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
  loaded.checksum = file.checksum();
  loaded.info = {.model = file.metadata("model"),
                 .options = read_options(file),
                 .data_checksum = file.metadata("data_checksum"),
                 .report = file.metadata("report"),
                 .items = read_ids(file, "item_id_offsets", "item_ids", "item ids"),
                 .features = read_features(file)};
  if (!nlohmann::json::accept(loaded.info.report)) {
    fail(ErrorKind::input, "{} is damaged: its report cannot be read", file.name());
  }
  const auto family =
      std::ranges::find_if(families(), [&](const auto& each) { return each->name == loaded.info.model; });
  if (family == families().end())
    fail(ErrorKind::input, "{} holds a model of the unknown kind '{}'", file.name(), loaded.info.model);
  loaded.scorer = (*family)->read(file, threads);
  if (loaded.scorer->items() != loaded.info.items.size()) {
    fail(ErrorKind::input, "{} is damaged: {} items, but {} ids", file.name(), loaded.scorer->items(),
         loaded.info.items.size());
  }
  const std::int64_t described = loaded.info.features.of_items.rows;
  if (described != 0 && described != loaded.info.items.size())
    fail(ErrorKind::input, "{} is damaged: {} items, but features of {}", file.name(),
         loaded.info.items.size(), described);
  return loaded;
}

}  // namespace poise
