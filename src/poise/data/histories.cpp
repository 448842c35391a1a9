#include "poise/data/histories.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/base/pool.hpp"

namespace poise {

namespace {

constexpr std::int64_t users_per_tile = 4096;

struct Scratch {
  std::vector<std::int64_t> seen;  // per item
  std::vector<double> sums;        // per distinct item of a user
};

/// Merges repeated items of one user's rows in place; returns how many distinct ones remain in front.
/// `scratch.seen[item]` holds the slot of that item's first row if the item is one of this user's; entries of
/// earlier users do not matter, so that nothing is cleared between users.
std::int64_t merge_repeats(std::span<std::int32_t> items, std::span<float> values, Scratch& scratch) {
  auto& [seen, sums] = scratch;
  sums.clear();
  std::int64_t count = 0;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const std::int32_t item = items[k];
    const std::int64_t slot = seen[item];
    const double value = values.empty() ? 0.0 : values[k];
    if (slot < count && items[slot] == item) {
      sums[slot] += value;
    } else {
      seen[item] = count;
      items[count++] = item;
      sums.push_back(value);
    }
  }
  constexpr double most = std::numeric_limits<float>::max();
  constexpr float beyond = std::numeric_limits<float>::infinity();
  for (std::size_t k = 0; k < values.size() && k < sums.size(); ++k)
    values[k] = std::abs(sums[k]) <= most ? static_cast<float>(sums[k]) : beyond;
  return count;
}

/// Each value fits a float, but their sum may not.
void check_sums(const Interactions& log, const Histories& histories, std::int64_t user) {
  for (std::int64_t k = histories.first[user]; k < histories.last[user]; ++k) {
    if (std::isfinite(histories.value[k])) continue;
    fail(ErrorKind::input,
         "the values of user '{}' and item '{}' add up to more than a float holds (3.4e38); correct them or "
         "leave the values out",
         log.users[user], log.items[histories.item[k]]);
  }
}

}  // namespace

Histories group_by_user(const Interactions& log, const Execution& execution) {
  Histories histories;
  histories.items = log.items.size();
  histories.first.assign(log.users.size(), 0);
  histories.last.assign(log.users.size(), 0);
  for (const std::int32_t user : log.user) ++histories.last[user];
  std::int64_t position = 0;
  for (std::int64_t u = 0; u < histories.users(); ++u) {
    histories.first[u] = position;
    position += histories.last[u];
    histories.last[u] = histories.first[u];
  }
  histories.item.resize(log.item.size());
  histories.value.resize(log.value.size());
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    const std::int64_t slot = histories.last[log.user[r]]++;
    histories.item[slot] = log.item[r];
    if (!log.value.empty()) histories.value[slot] = log.value[r];
  }

  const Tiling tiling{histories.users(), users_per_tile};
  std::vector<std::int64_t> merged(tiling.tiles(), 0);
  Pool<Scratch> pool([&] {
    auto scratch = std::make_unique<Scratch>();
    scratch->seen.assign(histories.items, 0);
    return scratch;
  });
  Progress progress(execution.observer, "grouping", histories.users(), "users");
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    progress.advance(tiling.last(tile) - tiling.first(tile));
    const auto scratch = pool.take();
    for (std::int64_t u = tiling.first(tile); u < tiling.last(tile); ++u) {
      const std::int64_t first = histories.first[u];
      const std::int64_t rows = histories.last[u] - first;
      const auto values =
          histories.value.empty() ? std::span<float>() : std::span(histories.value).subspan(first, rows);
      const std::int64_t distinct =
          merge_repeats(std::span(histories.item).subspan(first, rows), values, *scratch);
      histories.last[u] = first + distinct;
      merged[tile] += rows - distinct;
      if (!values.empty()) check_sums(log, histories, u);
    }
  });
  for (const std::int64_t count : merged) histories.duplicates += count;
  return histories;
}

Kept apply_filters(const Histories& histories, const Filters& filters) {
  Kept kept{std::vector<bool>(histories.users(), true), std::vector<bool>(histories.items, true)};
  bool changed = true;
  while (changed) {
    changed = false;
    std::vector<std::int64_t> item_users(histories.items, 0);
    for (std::int64_t u = 0; u < histories.users(); ++u) {
      if (!kept.users[u]) continue;
      for (const std::int32_t item : histories.user(u)) ++item_users[item];
    }
    for (std::int64_t i = 0; i < histories.items; ++i) {
      if (!kept.items[i] || item_users[i] >= filters.min_item_users) continue;
      kept.items[i] = false;
      changed = true;
    }
    for (std::int64_t u = 0; u < histories.users(); ++u) {
      if (!kept.users[u]) continue;
      const auto items = histories.user(u);
      const auto count =
          std::count_if(items.begin(), items.end(), [&](std::int32_t i) { return kept.items[i]; });
      // A user without items is dropped even if no minimum is given.
      if (count >= std::max<std::int64_t>(1, filters.min_user_items)) continue;
      kept.users[u] = false;
      changed = true;
    }
    if (!filters.k_core) break;
  }
  return kept;
}

}  // namespace poise
