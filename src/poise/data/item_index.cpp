#include "poise/data/item_index.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <functional>
#include <iterator>

#include "poise/base/byte_order_mark.hpp"
#include "poise/base/error.hpp"
#include "poise/base/suggest.hpp"

namespace poise {

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

ItemIndex::ItemIndex(const Ids& items)
    : items_(items), slots_(std::bit_ceil<std::size_t>(2 * items.size() + 2), -1) {
  for (std::int64_t i = 0; i < items.size(); ++i) {
    std::int32_t& slot = slots_[place_of(items[i])];
    if (slot < 0) slot = static_cast<std::int32_t>(i);
  }
}

std::size_t ItemIndex::place_of(std::string_view id) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = std::hash<std::string_view>()(id) & mask;
  while (slots_[at] >= 0 && items_[slots_[at]] != id) at = (at + 1) & mask;
  return at;
}

std::optional<std::int32_t> ItemIndex::find(std::string_view id) const {
  const std::int32_t item = slots_[place_of(id)];
  if (item < 0) return std::nullopt;
  return item;
}

std::int32_t ItemIndex::at(std::string_view id, std::string_view place) const {
  const auto found = find(id);
  if (!found) fail(ErrorKind::input, "{}the model does not know the item '{}'{}", place, id, suggestion(id));
  return *found;
}

std::string ItemIndex::suggestion(std::string_view id) const {
  std::string_view best;
  int least = likely_slips(id) + 1;
  for (std::int64_t i = 0; i < items_.size() && least > 0; ++i) {
    const int distance = edit_distance(id, items_[i], least - 1);
    if (distance >= least || !same_digits(id, items_[i])) continue;
    least = distance;
    best = items_[i];
  }
  if (!best.empty()) return fmt::format(" (did you mean '{}'?)", best);
  return items_.size() > 0 ? fmt::format(" (its first one is '{}')", items_[0]) : std::string();
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

}  // namespace poise
