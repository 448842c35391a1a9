#include "poise/data/split.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/data/catalogue.hpp"
#include "poise/data/item_index.hpp"
#include "poise/data/legacy_random.hpp"

namespace poise {

namespace {

/// A log grouped by user and filtered, and the counts of dropped entries.
struct Grouped {
  Histories histories;
  Kept kept;
  PrepareCounts counts;
};

/// Entries whose user or item is not kept.
std::int64_t filtered_entries(const Histories& histories, const Kept& kept) {
  std::int64_t count = 0;
  for (std::int64_t u = 0; u < histories.users(); ++u) {
    for (const std::int32_t item : histories.user(u)) count += kept.users[u] && kept.items[item] ? 0 : 1;
  }
  return count;
}

Grouped group_and_filter(const Interactions& log, const Filters& filters, const Execution& execution) {
  Grouped grouped{.histories = group_by_user(log, execution), .kept = {}, .counts = {}};
  grouped.kept = apply_filters(grouped.histories, filters);
  grouped.counts = {.duplicates = grouped.histories.duplicates,
                    .empty_ids = log.empty_ids,
                    .below_threshold = log.below_threshold,
                    .outside_catalogue = 0,
                    .skipped_lines = log.skipped_lines,
                    .filtered_users = std::ranges::count(grouped.kept.users, false),
                    .filtered_items = std::ranges::count(grouped.kept.items, false),
                    .filtered_interactions = filtered_entries(grouped.histories, grouped.kept)};
  return grouped;
}

/// The error if nothing is left; a log without rows is not blamed on a filter.
[[noreturn]] void fail_without_users(const Interactions& log) {
  if (log.rows() > 0) {
    fail(
        ErrorKind::input,
        "no user is left after filtering; check that the columns are right, lower {} or {}, or use more data",
        "min-user-items"_p, "min-item-users"_p);
  }
  if (log.below_threshold > 0) {
    fail(ErrorKind::input, "no user is left: no value is above the threshold ({} rows dropped); lower {}",
         log.below_threshold, "keep-above"_p);
  }
  if (log.disliked_rows > 0)
    fail(ErrorKind::input, "no user is left: all {} rows are dislikes; lower {}", log.disliked_rows,
         "dislike-below"_p);
  fail(ErrorKind::input,
       "no user is left: {} rows have an empty user or item id and {} lines are bad; check columns and "
       "delimiter",
       log.empty_ids, log.skipped_lines);
}

std::vector<std::int32_t> kept_users(const Interactions& log, const Kept& kept) {
  std::vector<std::int32_t> users;
  for (std::size_t u = 0; u < kept.users.size(); ++u) {
    if (kept.users[u]) users.push_back(static_cast<std::int32_t>(u));
  }
  if (users.empty()) fail_without_users(log);
  return users;
}

/// Adds known items after the others, in their own order, so that no row moves them.
void add_known_items(const Interactions& log, const Kept& kept, const Ids& known, Catalogue& catalogue) {
  std::vector<bool> has_row(log.items.size(), false);
  for (const std::int32_t item : log.item) has_row[item] = true;
  const ItemIndex of_log(log.items);
  for (std::int64_t k = 0; k < known.size(); ++k) {
    const std::optional<std::int32_t> item = of_log.find(known[k]);
    const bool filtered = item && has_row[*item] && !kept.items[*item];
    if (filtered || (item && catalogue.number[*item] != Catalogue::outside)) continue;
    if (item) catalogue.number[*item] = static_cast<std::int32_t>(catalogue.ids.size());
    catalogue.ids.push_back(known[k]);
  }
}

/// Numbers the kept items by first appearance among the rows of the training users.
Catalogue number_items(const Interactions& log, const Kept& kept, const std::vector<bool>& is_training,
                       const Ids* known) {
  Catalogue catalogue{std::vector<std::int32_t>(log.items.size(), Catalogue::outside), {}};
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    const std::int32_t item = log.item[r];
    if (!is_training[log.user[r]] || !kept.items[item] || catalogue.number[item] != Catalogue::outside)
      continue;
    catalogue.number[item] = static_cast<std::int32_t>(catalogue.ids.size());
    catalogue.ids.push_back(log.items[item]);
  }
  if (known != nullptr) add_known_items(log, kept, *known, catalogue);
  return catalogue;
}

/// The rows of `users`, reduced to the catalogue.
Csr catalogue_rows(const Histories& histories, const std::vector<std::int32_t>& users,
                   const Catalogue& catalogue, const Execution& execution) {
  const auto entries = [&](std::int64_t k, const auto& add) {
    for_each_entry(histories, catalogue, users[k], add);
  };
  return build_rows(static_cast<std::int64_t>(users.size()), catalogue, histories.value, entries, execution);
}

/// A held-out part. `order` lists positions in `users` by ascending id: the order of the draws.
HeldOut hold_out(const Interactions& log, const Histories& histories, const std::vector<std::int32_t>& users,
                 const std::vector<std::int32_t>& order, const Catalogue& catalogue, const UserSplit& options,
                 const Execution& execution) {
  LegacyRandom random(options.seed);
  // Per user the catalogue items in file order, and whether each is a target.
  std::vector<std::vector<std::pair<RowEntry, bool>>> drawn(users.size());
  for (const std::int32_t k : order) {
    auto& items = drawn[k];
    for_each_entry(histories, catalogue, users[k], [&](RowEntry entry) { items.emplace_back(entry, false); });
    const auto count = static_cast<std::int32_t>(items.size());
    if (count < smallest_split_history) continue;
    const auto targets = static_cast<std::int32_t>(options.target_share * static_cast<double>(count));
    for (const std::int32_t chosen : random.choice(count, targets)) items[chosen].second = true;
  }
  const auto part = [&](bool target) {
    const auto entries = [&](std::int64_t k, const auto& add) {
      for (const auto& [entry, is_target] : drawn[k]) {
        if (is_target == target) add(entry);
      }
    };
    return build_rows(static_cast<std::int64_t>(users.size()), catalogue, histories.value, entries,
                      execution);
  };
  return {.users = select(log.users, users), .fold_in = part(false), .targets = part(true)};
}

std::int64_t entries_of(const HeldOut& part) { return part.fold_in.entries() + part.targets.entries(); }

/// The kept entries of these users, inside the catalogue or not.
std::int64_t kept_entries(const Grouped& grouped, const std::vector<std::int32_t>& users) {
  std::int64_t count = 0;
  for (const std::int32_t user : users) {
    for (const std::int32_t item : grouped.histories.user(user)) count += grouped.kept.items[item] ? 1 : 0;
  }
  return count;
}

}  // namespace

Dataset split_users(const Interactions& log, const Filters& filters, const UserSplit& options,
                    const Execution& execution) {
  if (!(options.target_share > 0 && options.target_share < 1)) {
    fail(ErrorKind::usage, "the target share {} is out of range; choose one above 0 and below 1",
         options.target_share);
  }
  Grouped grouped = group_and_filter(log, filters, execution);
  const std::vector<std::int32_t> kept = kept_users(log, grouped.kept);
  const auto count = static_cast<std::int64_t>(kept.size());
  if (count < 3) {
    fail(ErrorKind::input,
         "only {} user{} left, and the split by users needs at least 3; use {} none or more data", count,
         count == 1 ? " is" : "s are", "split"_p);
  }
  const std::int64_t held_out = options.held_out_users.value_or(std::max<std::int64_t>(1, count / 10));
  const std::int64_t validation_users = options.validation_users.value_or(held_out);
  if (held_out < 1 || validation_users < 1 || held_out + validation_users > count - 1) {
    fail(ErrorKind::usage,
         "{} {} is out of range: {} users are left, and twice that many must leave some for training",
         "held-out-users"_p, held_out, count);
  }

  const Ids ids = select(log.users, kept);
  const std::vector<std::int32_t> by_id = sorted_order(ids);
  const std::vector<std::int32_t> permuted =
      LegacyRandom(options.seed).permutation(static_cast<std::int32_t>(count));
  // Users first to last in the permuted order, with the rank of their ids.
  const auto part = [&](std::int64_t first, std::int64_t last) {
    std::vector<std::int32_t> users;
    for (std::int64_t k = first; k < last; ++k) users.push_back(kept[by_id[permuted[k]]]);
    return users;
  };
  const auto draw_order = [&](std::int64_t first, std::int64_t last) {
    std::vector<std::int32_t> order(last - first);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::int32_t a, std::int32_t b) { return permuted[first + a] < permuted[first + b]; });
    return order;
  };
  const std::int64_t validation_first = count - held_out - validation_users;
  const std::int64_t test_first = count - held_out;
  const std::vector<std::int32_t> train_users = part(0, validation_first);
  std::vector<bool> is_training(log.users.size(), false);
  for (const std::int32_t user : train_users) is_training[user] = true;
  Catalogue catalogue = number_items(log, grouped.kept, is_training, filters.known_items);

  Dataset dataset;
  dataset.split = SplitKind::users;
  dataset.users = select(log.users, train_users);
  dataset.train = catalogue_rows(grouped.histories, train_users, catalogue, execution);
  const auto held_out_part = [&](std::int64_t first, std::int64_t last) {
    const std::vector<std::int32_t> users = part(first, last);
    HeldOut result =
        hold_out(log, grouped.histories, users, draw_order(first, last), catalogue, options, execution);
    grouped.counts.outside_catalogue += kept_entries(grouped, users) - entries_of(result);
    return result;
  };
  dataset.validation = held_out_part(validation_first, test_first);
  dataset.test = held_out_part(test_first, count);
  dataset.items = std::move(catalogue.ids);
  dataset.counts = grouped.counts;
  return dataset;
}

Dataset split_none(const Interactions& log, const Filters& filters, const Execution& execution) {
  const Grouped grouped = group_and_filter(log, filters, execution);
  const std::vector<std::int32_t> users = kept_users(log, grouped.kept);
  Catalogue catalogue = number_items(log, grouped.kept, grouped.kept.users, filters.known_items);
  Dataset dataset;
  dataset.users = select(log.users, users);
  dataset.train = catalogue_rows(grouped.histories, users, catalogue, execution);
  dataset.items = std::move(catalogue.ids);
  dataset.counts = grouped.counts;
  return dataset;
}

}  // namespace poise
