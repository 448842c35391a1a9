#include "item_index.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "poise/base/byte_order_mark.hpp"
#include "poise/base/error.hpp"
#include "poise/base/suggest.hpp"

namespace poise::app {

namespace {

/// Ids that differ in a digit are different items, not typing errors.
bool same_digits(std::string_view one, std::string_view other) {
  const auto digits = [](std::string_view text) {
    std::string result;
    std::ranges::copy_if(text, std::back_inserter(result), [](char c) { return c >= '0' && c <= '9'; });
    return result;
  };
  return digits(one) == digits(other);
}

}  // namespace

ItemIndex::ItemIndex(const Ids& items) {
  numbers_.reserve(items.size());
  for (std::int64_t i = 0; i < items.size(); ++i) numbers_.emplace(items[i], static_cast<std::int32_t>(i));
}

std::optional<std::int32_t> ItemIndex::find(std::string_view id) const {
  const auto found = numbers_.find(id);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::int32_t ItemIndex::at(std::string_view id, std::string_view place) const {
  const auto found = find(id);
  if (!found) fail(ErrorKind::input, "{}the model does not know the item '{}'{}", place, id, suggestion(id));
  return *found;
}

std::string ItemIndex::suggestion(std::string_view id) const {
  std::string_view best;
  int least = likely_slips(id) + 1;
  for (const auto& [known, number] : numbers_) {
    const int distance = edit_distance(id, known, least);
    // Among equally near ones the first of the model, in any iteration order.
    const bool nearer =
        distance < least || (distance == least && !best.empty() && number < numbers_.at(best));
    if (distance > likely_slips(id) || !nearer || !same_digits(id, known)) continue;
    least = distance;
    best = known;
  }
  return best.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", best);
}

std::vector<IdLine> read_id_lines(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    fail(ErrorKind::input, "cannot read {}; it should hold one item id per line", path.string());
  }
  std::vector<IdLine> lines;
  std::int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    if (++number == 1 && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back({line, number});
  }
  return lines;
}

}  // namespace poise::app
