#include "poise/data/ids.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

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

}  // namespace

Ids select(const Ids& ids, const std::vector<std::int32_t>& positions) {
  Ids result;
  for (const std::int32_t k : positions) result.push_back(ids[k]);
  return result;
}

std::vector<std::int32_t> sorted_order(const Ids& ids) {
  std::vector<std::int32_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0);
  const auto sort_by = [&](auto less) {
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      if (less(a, b)) return true;
      return !less(b, a) && ids[a] < ids[b];
    });
    return order;
  };
  if (std::all_of(order.begin(), order.end(), [&](std::int32_t k) { return is_whole(ids[k]); })) {
    return sort_by([&](std::int32_t a, std::int32_t b) { return whole_less(ids[a], ids[b]); });
  }
  std::vector<double> numbers;
  for (std::int64_t k = 0; k < ids.size(); ++k) {
    const std::optional<double> number = as_number(ids[k]);
    if (!number) return sort_by([&](std::int32_t a, std::int32_t b) { return ids[a] < ids[b]; });
    numbers.push_back(*number);
  }
  return sort_by([&](std::int32_t a, std::int32_t b) { return numbers[a] < numbers[b]; });
}

}  // namespace poise
