#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "poise/base/error.hpp"
#include "poise/data/attach_features.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/data/item_features.hpp"
#include "poise/data/item_index.hpp"
#include "poise/serve/item_catalogue.hpp"

namespace {

/// A file that lies in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(memfd_create("table", 0)) {
    if (file_ < 0 || write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      std::abort();
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

void check(bool holds) {
  if (!holds) std::abort();
}

/// Nothing for a poise::Error, the only exception that may come out.
template <class Read>
auto unless_refused(const Read& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const poise::Error&) {
    return std::nullopt;
  }
}

void check_titles(const std::filesystem::path& path) {
  auto table = unless_refused([&] { return poise::ItemTable::read(path); });
  if (!table) return;
  const poise::serve::ItemCatalogue catalogue(*std::move(table));
  const poise::ItemTable& items = catalogue.table();
  const auto all = [](std::string_view) { return true; };
  for (std::int64_t k = 0; k < std::min<std::int64_t>(items.size(), 8); ++k) {
    check(!items.id(k).empty());
    for (const auto& [name, value] : items.columns(k)) check(!value.empty());
    static_cast<void>(items.title_of(items.id(k)));
    static_cast<void>(items.picture_of(items.id(k)));
    for (const std::int64_t found : catalogue.find(items.title(k), 8, all)) check(found < items.size());
  }
}

/// Data whose catalogue is every second item of the table and one more.
poise::Dataset data_for(const poise::FeatureTable& table) {
  poise::Dataset data;
  data.split = poise::SplitKind::none;
  data.items.push_back("one of the log");
  for (std::int64_t k = 0; k < table.items.size(); k += 2)
    if (table.items[k] != data.items[0]) data.items.push_back(table.items[k]);
  data.users.push_back("user");
  data.train = {.rows = 1, .cols = data.items.size(), .offsets = {0, 1}, .indices = {0}, .values = {}};
  return data;
}

void check_features(const std::filesystem::path& path) {
  const auto strict = unless_refused([&] { return poise::read_item_features(path, false); });
  const auto table = unless_refused([&] { return poise::read_item_features(path, true); });
  if (strict) check(table && table->skipped_lines == 0 && table->rows == strict->rows);
  if (!table) return;
  const poise::ItemIndex index(table->items);
  for (std::int64_t k = 0; k < table->items.size(); ++k) check(index.find(table->items[k]) == k);
  // What was read is written and read again.
  poise::Dataset data = data_for(*table);
  poise::attach_features(data, *table);
  const auto bytes = poise::encode_dataset(data, {.threads = 1});
  check(poise::decode_dataset(poise::Container::parse(bytes, "data", 1), {.threads = 1}) == data);
}

}  // namespace

/// A table of items as titles, and as features.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // A few compressed bytes can hold gigabytes; fuzz_byte_source is there for them.
  if (bytes.starts_with("\x28\xb5\x2f\xfd") || bytes.starts_with("\x1f\x8b")) return 0;
  const MemoryFile file(bytes);
  check_titles(file.path());
  check_features(file.path());
  return 0;
}
