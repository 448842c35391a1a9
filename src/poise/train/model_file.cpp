#include "poise/train/model_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "poise/base/error.hpp"
#include "poise/storage/container.hpp"

namespace poise {

namespace {

constexpr const char* format_name = "poise-model";
constexpr const char* format_version = "1";

constexpr std::int64_t elements_per_tile = std::int64_t{1} << 20;
constexpr std::int64_t rows_per_tile = 1024;

/// A wmf model's tensor `fold_in`: lambda, its exponent and its alpha, then the weighting's alpha, epsilon,
/// gamma and clip.
constexpr std::size_t fold_in_numbers = 7;

template <class T>
Tensor tensor_of(const char* name, ElementType type, const T& values, std::vector<std::int64_t> shape) {
  return {name, type, std::move(shape), std::as_bytes(std::span(values.data(), values.size()))};
}

/// Where a model's container goes: a file, or memory.
using ModelSink = std::function<void(const Metadata&, std::span<const Tensor>)>;

void put(const ModelSink& sink, const ModelInfo& info, std::vector<Tensor> tensors, Metadata metadata = {}) {
  metadata.insert({{"format", format_name},
                   {"version", format_version},
                   {"model", info.model},
                   {"options", nlohmann::json(info.options).dump()},
                   {"data_checksum", info.data_checksum},
                   {"report", info.report}});
  const auto size_of = [](const auto& values) { return static_cast<std::int64_t>(values.size()); };
  const auto& offsets = info.items.offsets();
  const auto& bytes = info.items.bytes();
  tensors.push_back(tensor_of("item_id_offsets", ElementType::i64, offsets, {size_of(offsets)}));
  tensors.push_back(tensor_of("item_ids", ElementType::u8, bytes, {size_of(bytes)}));
  sink(metadata, tensors);
}

Tensor tensor_of(const char* name, MatrixView<const float> matrix) {
  assert(matrix.stride == matrix.cols);
  return tensor_of(name, ElementType::f32, std::span(matrix.data, matrix.data + matrix.rows * matrix.cols),
                   {matrix.rows, matrix.cols});
}

/// Whether they cut `size` elements into lists: from 0, never down, to the size.
bool are_offsets_of(std::span<const std::int64_t> offsets, std::uint64_t size) {
  return !offsets.empty() && offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
         static_cast<std::uint64_t>(offsets.back()) == size;
}

/// No branch inside, so that it vectorizes and costs no more than reading.
bool all_finite(std::span<const float> numbers) {
  constexpr std::uint32_t exponent = 0x7F800000U;
  std::uint32_t bad = 0;
  for (const float number : numbers)
    bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(number) & exponent) == exponent);
  return bad == 0;
}

Ids read_item_ids(const Container& file) {
  const auto offsets = file.elements<std::int64_t>("item_id_offsets");
  const auto bytes = file.elements<std::uint8_t>("item_ids");
  if (!are_offsets_of(offsets, bytes.size()))
    fail(ErrorKind::input, "{} is damaged: its item ids do not fit together", file.name());
  return {std::string(bytes.begin(), bytes.end()), std::vector<std::int64_t>(offsets.begin(), offsets.end())};
}

std::map<std::string, std::string> read_options(const Container& file) {
  try {
    return nlohmann::json::parse(file.metadata("options")).get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::input, "{} is damaged: its options cannot be read", file.name());
  }
}

/// The elements of a tensor, none of them infinite or NaN.
std::span<const float> finite_elements(const Container& file, const char* name, int threads) {
  const auto elements = file.elements<float>(name);
  const Tiling tiling{static_cast<std::int64_t>(elements.size()), elements_per_tile};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    if (all_finite(elements.subspan(tiling.first(tile), tiling.last(tile) - tiling.first(tile)))) return;
    fail(ErrorKind::input, "{} is damaged: in its tensor {}, a number is not finite", file.name(), name);
  });
  return elements;
}

std::unique_ptr<Scorer> read_popularity(const Container& file, int threads) {
  const auto counts = finite_elements(file, "counts", threads);
  return std::make_unique<Popularity>(std::vector<float>(counts.begin(), counts.end()));
}

/// A matrix where it lies in the file.
MatrixView<const float> read_matrix(const Container& file, const char* name, int threads) {
  const std::vector<std::int64_t>& shape = file.tensor(name, ElementType::f32).shape;
  if (shape.size() != 2) {
    fail(ErrorKind::input, "{} is damaged: its tensor {} is not a matrix", file.name(), name);
  }
  return {.data = finite_elements(file, name, threads).data(),
          .rows = shape[0],
          .cols = shape[1],
          .stride = shape[1]};
}

std::unique_ptr<Scorer> read_dense(const Container& file, int threads) {
  const MatrixView<const float> B = read_matrix(file, "B", threads);
  if (B.rows != B.cols) {
    fail(ErrorKind::input, "{} is damaged: its tensor B is not square", file.name());
  }
  return std::make_unique<FullRank>(B, file.owner());
}

std::unique_ptr<Scorer> read_asymmetric(const Container& file, int threads) {
  const MatrixView<const float> U = read_matrix(file, "U", threads);
  const MatrixView<const float> V = read_matrix(file, "V", threads);
  if (U.rows != V.rows || U.cols != V.cols) {
    fail(ErrorKind::input, "{} is damaged: its tensors U and V do not fit together", file.name());
  }
  return std::make_unique<Asymmetric>(U, V, file.owner());
}

std::unique_ptr<Scorer> read_wmf(const Container& file, int threads) {
  const auto expect = [&](bool sound, const char* what) {
    if (!sound) fail(ErrorKind::input, "{} is damaged: {}", file.name(), what);
  };
  const MatrixView<const float> V = read_matrix(file, "V", threads);
  const auto item_users = file.elements<std::int64_t>("item_users");
  const auto users = file.elements<std::int64_t>("users");
  const auto numbers = file.elements<double>("fold_in");
  expect(static_cast<std::int64_t>(item_users.size()) == V.rows && users.size() == 1 &&
             numbers.size() == fold_in_numbers,
         "its parts do not fit together");
  expect(
      users[0] >= 0 && std::ranges::all_of(
                           item_users, [&](std::int64_t count) { return count >= 0 && count <= users[0]; }),
      "an item has more users than there are");
  WmfTraining training{
      .weighting = {.alpha = numbers[3], .epsilon = numbers[4], .gamma = numbers[5], .clip = numbers[6]},
      .lambda = {.lambda = numbers[0], .exponent = numbers[1], .alpha = numbers[2]},
      .users = users[0],
      .item_users = {item_users.begin(), item_users.end()}};
  expect(std::isfinite(numbers[0]) && numbers[0] >= 0 && std::isfinite(numbers[1]) &&
             std::isfinite(numbers[2]) && numbers[2] > 0,
         "its regularization is out of range");
  try {
    training.weighting.scheme = parse_scheme(file.metadata("weighting"));
    validate(training.weighting);
  } catch (const Error& error) {
    expect(false, error.what());
  }
  return std::make_unique<Wmf>(V, file.owner(), std::move(training));
}

/// Row r of B ascends within the catalogue.
bool row_is_sound(CsrView B, std::int64_t r) {
  const auto columns = B.row(r);
  return columns.empty() ||
         (columns.front() >= 0 && columns.back() < B.cols &&
          std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>()) == columns.end());
}

std::unique_ptr<Scorer> read_sparse(const Container& file, int threads) {
  const auto offsets = file.elements<std::int64_t>("B.offsets");
  const auto indices = file.elements<std::int32_t>("B.indices");
  const auto values = finite_elements(file, "B.values", threads);
  const auto expect = [&](bool sound) {
    if (!sound) fail(ErrorKind::input, "{} is damaged: its sparse B does not fit together", file.name());
  };
  expect(are_offsets_of(offsets, indices.size()) && values.size() == indices.size());
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const CsrView B{.rows = n, .cols = n, .offsets = offsets, .indices = indices, .values = values};
  const Tiling tiling{n, rows_per_tile};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    for (std::int64_t r = tiling.first(tile); r < tiling.last(tile); ++r) expect(row_is_sound(B, r));
  });
  return std::make_unique<FullRank>(Csr{.rows = n,
                                        .cols = n,
                                        .offsets = {offsets.begin(), offsets.end()},
                                        .indices = {indices.begin(), indices.end()},
                                        .values = {values.begin(), values.end()}});
}

std::unique_ptr<Scorer> read_scorer(const Container& file, const std::string& model, int threads) {
  if (model == "popularity") return read_popularity(file, threads);
  if (model == "full-rank")
    return file.has("B.offsets") ? read_sparse(file, threads) : read_dense(file, threads);
  if (model == "wmf") return read_wmf(file, threads);
  if (model == "awmf") return read_asymmetric(file, threads);
  fail(ErrorKind::input, "{} holds a model of the unknown kind '{}'", file.name(), model);
}

void put_model(const ModelSink& sink, const ModelInfo& info, const Popularity& model) {
  put(sink, info, {tensor_of("counts", ElementType::f32, model.counts(), {model.items()})});
}

void put_model(const ModelSink& sink, const ModelInfo& info, const FullRank& model) {
  const std::int64_t n = model.items();
  if (const Csr* sparse = model.sparse()) {
    put(sink, info,
        {tensor_of("B.offsets", ElementType::i64, sparse->offsets, {n + 1}),
         tensor_of("B.indices", ElementType::i32, sparse->indices, {sparse->entries()}),
         tensor_of("B.values", ElementType::f32, sparse->values, {sparse->entries()})});
    return;
  }
  put(sink, info, {tensor_of("B", model.dense())});
}

void put_model(const ModelSink& sink, const ModelInfo& info, const Asymmetric& model) {
  put(sink, info, {tensor_of("U", model.U()), tensor_of("V", model.V())});
}

void put_model(const ModelSink& sink, const ModelInfo& info, const Wmf& model) {
  const WmfTraining& training = model.training();
  const WeightingOptions& weighting = training.weighting;
  const std::array<double, fold_in_numbers> numbers = {
      training.lambda.lambda, training.lambda.exponent, training.lambda.alpha, weighting.alpha,
      weighting.epsilon,      weighting.gamma,          weighting.clip};
  const std::array<std::int64_t, 1> users = {training.users};
  put(sink, info,
      {tensor_of("V", model.V()),
       tensor_of("item_users", ElementType::i64, training.item_users, {model.items()}),
       tensor_of("users", ElementType::i64, users, {1}),
       tensor_of("fold_in", ElementType::f64, numbers, {static_cast<std::int64_t>(numbers.size())})},
      {{"weighting", std::string(scheme_name(weighting.scheme))}});
}

void put_any(const ModelSink& sink, const ModelInfo& info, const Scorer& model) {
  if (const auto* const full_rank = dynamic_cast<const FullRank*>(&model))
    return put_model(sink, info, *full_rank);
  if (const auto* const low_rank = dynamic_cast<const Asymmetric*>(&model))
    return put_model(sink, info, *low_rank);
  if (const auto* const wmf = dynamic_cast<const Wmf*>(&model)) return put_model(sink, info, *wmf);
  put_model(sink, info, dynamic_cast<const Popularity&>(model));
}

}  // namespace

WriteSeconds write_model(const std::filesystem::path& path, const ModelInfo& info, const Scorer& model,
                         int threads) {
  WriteSeconds seconds;
  put_any(
      [&](const Metadata& metadata, std::span<const Tensor> tensors) {
        seconds = write_container(path, metadata, tensors, threads);
      },
      info, model);
  return seconds;
}

std::vector<std::byte> model_bytes(const ModelInfo& info, const Scorer& model) {
  std::vector<std::byte> bytes;
  put_any([&](const Metadata& metadata,
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
  loaded.info = {.model = file.metadata("model"),
                 .options = read_options(file),
                 .data_checksum = file.metadata("data_checksum"),
                 .report = file.metadata("report"),
                 .items = read_item_ids(file)};
  if (!nlohmann::json::accept(loaded.info.report)) {
    fail(ErrorKind::input, "{} is damaged: its report cannot be read", file.name());
  }
  loaded.scorer = read_scorer(file, loaded.info.model, threads);
  if (loaded.scorer->items() != loaded.info.items.size()) {
    fail(ErrorKind::input, "{} is damaged: {} items, but {} ids", file.name(), loaded.scorer->items(),
         loaded.info.items.size());
  }
  return loaded;
}

}  // namespace poise
