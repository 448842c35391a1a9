#include "poise/data/ids.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "poise/data/numbers.hpp"

namespace poise {

namespace {

/// The number that the complete text represents; none unless it is finite.
std::optional<double> as_number(std::string_view text) {
  const std::optional<double> value = parse_number(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

bool is_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return is_whole_number(text);
}

/// Whole numbers of any length, compared exactly (as doubles, ids above 2^53 would become equal).
bool whole_less(std::string_view a, std::string_view b) {
  const bool negative = a.starts_with('-');
  if (negative != b.starts_with('-')) return negative;
  const auto digits = [](std::string_view text) {
    return text.substr(std::min(text.find_first_not_of("-0"), text.size()));
  };
  const std::string_view x = digits(negative ? b : a);
  const std::string_view y = digits(negative ? a : b);
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

/// The value of a whole number; none for those that are negative or may be beyond 64 bits.
std::optional<std::uint64_t> small_value(std::string_view text) {
  constexpr std::size_t most_digits = 19;
  if (text.starts_with('-') || text.size() > most_digits) return std::nullopt;
  std::uint64_t value = 0;
  for (const char digit : text) value = 10 * value + static_cast<std::uint64_t>(digit - '0');
  return value;
}

/// The first eight bytes as a number: in the order of the texts, or equal.
std::uint64_t first_bytes(std::string_view text) {
  std::uint64_t value = 0;
  for (std::size_t k = 0; k < sizeof value; ++k)
    value = value << 8U | (k < text.size() ? static_cast<unsigned char>(text[k]) : 0U);
  return value;
}

/// Positions by ascending key(text), then by the texts; none where a text has no key. Keys lie beside each
/// other, so that millions of texts need not be fetched for each comparison.
template <class Key, class KeyOf>
std::optional<std::vector<std::int32_t>> order_by(const Ids& ids, const KeyOf& key_of) {
  std::vector<std::pair<Key, std::int32_t>> keyed(ids.size());
  for (std::int64_t k = 0; k < ids.size(); ++k) {
    const std::optional<Key> key = key_of(ids[k]);
    if (!key) return std::nullopt;
    keyed[k] = {*key, static_cast<std::int32_t>(k)};
  }
  std::sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : ids[a.second] < ids[b.second];
  });
  std::vector<std::int32_t> order(ids.size());
  std::ranges::transform(keyed, order.begin(), [](const auto& each) { return each.second; });
  return order;
}

bool all_whole(const Ids& ids) {
  for (std::int64_t k = 0; k < ids.size(); ++k)
    if (!is_whole(ids[k])) return false;
  return true;
}

}  // namespace

Ids select(const Ids& ids, const std::vector<std::int32_t>& positions) {
  Ids result;
  for (const std::int32_t k : positions) result.push_back(ids[k]);
  return result;
}

std::vector<std::int32_t> sorted_order(const Ids& ids) {
  if (all_whole(ids)) {
    if (auto order = order_by<std::uint64_t>(ids, small_value)) return *std::move(order);
    std::vector<std::int32_t> order(ids.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      if (whole_less(ids[a], ids[b])) return true;
      return !whole_less(ids[b], ids[a]) && ids[a] < ids[b];
    });
    return order;
  }
  if (auto order = order_by<double>(ids, as_number)) return *std::move(order);
  return *order_by<std::uint64_t>(ids,
                                  [](std::string_view text) { return std::optional(first_bytes(text)); });
}

}  // namespace poise
