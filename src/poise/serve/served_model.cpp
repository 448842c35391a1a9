#include "poise/serve/served_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <utility>

#include "poise/base/error.hpp"

namespace poise::serve {
namespace {

using ReadBytes = std::vector<std::byte, LargePages<std::byte>>;

ReadBytes read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || !std::filesystem::is_regular_file(path))
    fail_on_file(ErrorKind::input, "cannot read {}: it is no file", path.string());
  ReadBytes bytes(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) fail_on_file(ErrorKind::input, "cannot read {} whole", path.string());
  return bytes;
}

/// Requests name items by id, so each id must name one item; and a model that cannot score one history cannot
/// serve.
void check_usable(const LoadedModel& model, const ItemIndex& index, const std::string& file) {
  const std::int64_t items = model.info.items.size();
  if (items == 0) fail(ErrorKind::input, "{} has no items", file);
  for (std::int64_t i = 0; i < items; ++i) {
    if (model.info.items[i].empty() || index.find(model.info.items[i]) != i)
      fail(ErrorKind::input, "{} cannot be served: its item ids are not distinct", file);
  }
  const std::array<std::int64_t, 2> offsets = {0, 1};
  const std::array<std::int32_t, 1> history = {0};
  std::vector<float> scores(items);
  model.scorer->score(CsrView{.rows = 1, .cols = items, .offsets = offsets, .indices = history, .values = {}},
                      {.data = scores.data(), .rows = 1, .cols = items, .stride = items});
  for (const float score : scores) {
    if (!std::isfinite(score)) fail(ErrorKind::input, "{} cannot be served: its scores are no numbers", file);
  }
}

}  // namespace

std::shared_ptr<const ServedModel> ServedModel::open(std::string name, const std::filesystem::path& path,
                                                     Held held, const ItemFilters& filters, int threads) {
  FileBytes bytes;
  if (held == Held::read) bytes = read_whole(path);
  const Container file =
      held == Held::read ? Container::parse(bytes, path.string(), threads) : Container::open(path, threads);
  auto model =
      std::make_shared<ServedModel>(std::move(name), decode_model(file, threads), file.checksum(), filters);
  model->bytes_ = std::move(bytes);  // moving a vector leaves its elements where they are
  check_usable(model->model_, model->index_, path.string());
  return model;
}

ServedModel::ServedModel(std::string name, LoadedModel model, std::string checksum,
                         const ItemFilters& filters)
    : name_(std::move(name)),
      model_(std::move(model)),
      index_(model_.info.items),
      ranker_(std::make_unique<Ranker>(*model_.scorer, nullptr, Execution{.threads = 1})),
      checksum_(std::move(checksum)) {
  excluded_ = known(filters.exclude);
  if (filters.only) {
    only_ = known(*filters.only);
    std::ranges::sort(*only_);
  }
}

ServedModel::~ServedModel() = default;

const ItemCatalogue& ServedModel::catalogue() const {
  std::call_once(catalogue_made_, [this] {
    catalogue_ = std::make_unique<const ItemCatalogue>(std::make_unique<const ItemTable>(items()));
  });
  return *catalogue_;
}

std::vector<std::int32_t> ServedModel::known(const std::vector<std::string>& ids) const {
  std::vector<std::int32_t> result;
  for (const std::string& id : ids) {
    if (const auto item = index_.find(id)) result.push_back(*item);
  }
  return result;
}

}  // namespace poise::serve
