#include "item_index.hpp"

#include <fstream>

#include "poise/base/error.hpp"

namespace poise::app {

ItemIndex::ItemIndex(const Ids& items) {
  numbers_.reserve(items.size());
  for (std::int64_t i = 0; i < items.size(); ++i) numbers_.emplace(items[i], static_cast<std::int32_t>(i));
}

std::optional<std::int32_t> ItemIndex::find(std::string_view id) const {
  const auto found = numbers_.find(id);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::int32_t ItemIndex::at(std::string_view id) const {
  const auto found = find(id);
  if (!found) fail(ErrorKind::input, "the model does not know the item '{}'", id);
  return *found;
}

std::vector<std::string> read_id_lines(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    fail(ErrorKind::input, "cannot read {}; it should hold one item id per line", path.string());
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

}  // namespace poise::app
