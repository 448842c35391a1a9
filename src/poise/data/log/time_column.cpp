#include "poise/data/log/time_column.hpp"

#include <algorithm>

#include "poise/data/log/layout.hpp"
#include "poise/data/times.hpp"

namespace poise::logs {

namespace {

/// Whether at least half of the rows have a time in the column: the first may be a bad line.
bool are_times(std::span<const Fields> rows, int column) {
  const auto times = std::ranges::count_if(rows, [&](const Fields& fields) {
    return column < static_cast<int>(fields.size()) && looks_like_time(fields[column]);
  });
  return times > 0 && 2 * times >= std::ssize(rows);
}

}  // namespace

bool is_used(const DelimitedLayout& layout, int column) {
  return column == layout.user || column == layout.item || column == layout.value || column == layout.time;
}

std::optional<int> time_column(const Fields& first, std::span<const Fields> rows, bool header,
                               const DelimitedLayout& layout, bool any) {
  const auto count = static_cast<int>(first.size());
  std::optional<int> named;
  for (int k = 0; header && k < count; ++k) {
    if (is_used(layout, k) || role_of(first[k]) != ColumnRole::time) continue;
    if (are_times(rows, k)) return k;
    if (!named) named = k;
  }
  if (named || (header && !any)) return named;
  for (int k = 0; k < count; ++k) {
    if (!is_used(layout, k) && are_times(rows, k)) return k;
  }
  return std::nullopt;
}

}  // namespace poise::logs
