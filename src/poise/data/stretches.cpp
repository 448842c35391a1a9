#include "poise/data/stretches.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "poise/data/catalogue.hpp"
#include "poise/data/item_index.hpp"

namespace poise {
namespace {

constexpr std::int32_t no_user = -1;

/// Some rows of a log, in its order. Users are numbered by first appearance among them, so that other rows
/// have no influence; items keep their numbers.
struct SomeRows {
  Interactions log;
  std::vector<std::int32_t> in_whole;  ///< the whole log's number of each user
  std::vector<std::int32_t> number;    ///< of each user of the whole log, or no_user
};

SomeRows rows_of(const Interactions& log, const Stretches& stretches, Stretch first, Stretch last) {
  SomeRows some;
  some.log.items = log.items;
  some.number.assign(log.users.size(), no_user);
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    if (stretches[r] < first || stretches[r] > last) continue;
    std::int32_t& number = some.number[log.user[r]];
    if (number == no_user) {
      number = static_cast<std::int32_t>(some.in_whole.size());
      some.in_whole.push_back(log.user[r]);
      some.log.users.push_back(log.users[log.user[r]]);
    }
    some.log.user.push_back(number);
    some.log.item.push_back(log.item[r]);
    if (!log.value.empty()) some.log.value.push_back(log.value[r]);
  }
  return some;
}

/// The numbers of the log's items among the training items.
Catalogue catalogue_of(const Interactions& log, const Ids& items) {
  Catalogue catalogue{std::vector<std::int32_t>(log.items.size(), Catalogue::outside), items};
  const ItemIndex index(catalogue.ids);
  for (std::int64_t i = 0; i < log.items.size(); ++i)
    catalogue.number[i] = index.find(log.items[i]).value_or(Catalogue::outside);
  return catalogue;
}

/// Chooses the users of a part and their targets; counts what is left out.
class HoldOut {
 public:
  HoldOut(const Histories& before, const Histories& later, const Catalogue& catalogue, std::int64_t least,
          PrepareCounts& counts)
      : before_(before), later_(later), catalogue_(catalogue), least_(least), counts_(counts) {
    last_with_.assign(before.items, no_user);
  }

  /// A user with these numbers before the cut (or no_user) and after it.
  void add(std::int32_t before, std::int32_t later) {
    if (before == no_user || items_before(before) < least_) {
      ++counts_.unknown_users;
      counts_.unknown_interactions += later_.last[later] - later_.first[later];
      return;
    }
    for (const std::int32_t item : before_.user(before)) last_with_[item] = before;
    users_.push_back(before);
    for (std::int64_t slot = later_.first[later]; slot < later_.last[later]; ++slot) {
      const std::int32_t item = later_.item[slot];
      const std::int32_t number = catalogue_.number[item];
      if (last_with_[item] == before) {
        ++counts_.repeats;
      } else if (number == Catalogue::outside) {
        ++counts_.outside_catalogue;
      } else {
        targets_.push_back({number, slot});
      }
    }
    ends_.push_back(targets_.size());
  }

  [[nodiscard]] HeldOut take(const Interactions& before, const Execution& execution) const {
    const auto rows = static_cast<std::int64_t>(users_.size());
    const auto history = [&](std::int64_t k, const auto& add) {
      for_each_entry(before_, catalogue_, users_[k], add);
    };
    const auto targets = [&](std::int64_t k, const auto& add) {
      for (std::size_t e = k == 0 ? 0 : ends_[k - 1]; e < ends_[k]; ++e) add(targets_[e]);
    };
    return {.users = select(before.users, users_),
            .fold_in = build_rows(rows, catalogue_, before_.value, history, execution),
            .targets = build_rows(rows, catalogue_, later_.value, targets, execution)};
  }

 private:
  [[nodiscard]] std::int64_t items_before(std::int32_t user) const {
    const auto items = before_.user(user);
    return std::ranges::count_if(
        items, [&](std::int32_t item) { return catalogue_.number[item] != Catalogue::outside; });
  }

  const Histories& before_;
  const Histories& later_;
  const Catalogue& catalogue_;
  const std::int64_t least_;
  PrepareCounts& counts_;
  std::vector<std::int32_t> last_with_;  // per item: the last user added that has it before the cut
  std::vector<std::int32_t> users_;
  std::vector<RowEntry> targets_;
  std::vector<std::size_t> ends_;
};

/// The users of one stretch. Those with a history come in the order of its first rows, so that no later row
/// moves them.
HeldOut held_out_part(const Interactions& log, const Stretches& stretches, Stretch part,
                      const Catalogue& catalogue, const Filters& filters, PrepareCounts& counts,
                      const Execution& execution) {
  const auto earlier = static_cast<Stretch>(static_cast<int>(part) - 1);
  const SomeRows before = rows_of(log, stretches, Stretch::training, earlier);
  const SomeRows later = rows_of(log, stretches, part, part);
  const Histories histories = group_by_user(before.log, execution);
  const Histories found = group_by_user(later.log, execution);
  counts.duplicates += found.duplicates;
  HoldOut hold_out(histories, found, catalogue, std::max<std::int64_t>(1, filters.min_user_items), counts);
  for (std::int64_t u = 0; u < before.log.users.size(); ++u) {
    const std::int32_t number = later.number[before.in_whole[u]];
    if (number != no_user) hold_out.add(static_cast<std::int32_t>(u), number);
  }
  for (std::int64_t u = 0; u < later.log.users.size(); ++u) {
    if (before.number[later.in_whole[u]] == no_user) hold_out.add(no_user, static_cast<std::int32_t>(u));
  }
  return hold_out.take(before.log, execution);
}

std::int64_t unknown_items(const Interactions& log, const Stretches& stretches, const Catalogue& catalogue) {
  std::vector<bool> seen(log.items.size(), false);
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    const std::int32_t item = log.item[r];
    const bool held_out = stretches[r] == Stretch::validation || stretches[r] == Stretch::test;
    if (!held_out || seen[item] || catalogue.number[item] != Catalogue::outside) continue;
    seen[item] = true;
    ++count;
  }
  return count;
}

}  // namespace

Dataset split_by(const Interactions& log, const Stretches& stretches, bool validation, SplitKind split,
                 const Filters& filters, const Execution& execution) {
  Dataset dataset =
      split_none(rows_of(log, stretches, Stretch::training, Stretch::training).log, filters, execution);
  dataset.split = split;
  PrepareCounts& counts = dataset.counts;
  counts.empty_ids = log.empty_ids;
  counts.below_threshold = log.below_threshold;
  counts.skipped_lines = log.skipped_lines;
  counts.after_test = std::ranges::count(stretches, Stretch::behind);
  const Catalogue catalogue = catalogue_of(log, dataset.items);
  counts.unknown_items = unknown_items(log, stretches, catalogue);
  const auto part = [&](Stretch which) {
    return held_out_part(log, stretches, which, catalogue, filters, counts, execution);
  };
  if (validation) dataset.validation = part(Stretch::validation);
  dataset.test = part(Stretch::test);
  return dataset;
}

}  // namespace poise
