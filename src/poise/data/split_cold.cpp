#include <algorithm>
#include <cstdint>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/data/item_index.hpp"
#include "poise/data/legacy_random.hpp"
#include "poise/data/split.hpp"
#include "poise/data/stretches.hpp"

namespace poise {
namespace {

/// The share of the items that no training user has.
constexpr std::int64_t one_in = 10;

/// The items of the log that can be held out: those with features and enough users.
std::vector<std::int32_t> eligible_items(const Interactions& log, const Filters& filters,
                                         const Execution& execution) {
  const Histories histories = group_by_user(log, execution);
  std::vector<std::int64_t> users(log.items.size(), 0);
  for (std::int64_t u = 0; u < histories.users(); ++u) {
    for (const std::int32_t item : histories.user(u)) ++users[item];
  }
  const std::int64_t least = std::max<std::int64_t>(1, filters.min_item_users);
  const ItemIndex index(log.items);
  std::vector<std::int32_t> eligible;
  for (std::int64_t k = 0; k < filters.known_items->size(); ++k) {
    const auto item = index.find((*filters.known_items)[k]);
    if (item && users[*item] >= least) eligible.push_back(*item);
  }
  return eligible;
}

/// The part of each item: a tenth is cold, half of that for validation and the rest for test, drawn in the
/// order of the ids, so that the order of rows and of features has no influence.
Stretches parts_of_items(const Ids& items, std::vector<std::int32_t> eligible, std::uint32_t seed) {
  const std::vector<std::int32_t> by_id = sorted_order(select(items, eligible));
  const auto count = static_cast<std::int32_t>(eligible.size());
  const std::vector<std::int32_t> permuted = LegacyRandom(seed).permutation(count);
  const std::int64_t cold = std::max<std::int64_t>(2, count / one_in);
  Stretches parts(items.size(), Stretch::training);
  for (std::int64_t k = 0; k < cold; ++k)
    parts[eligible[by_id[permuted[k]]]] = k < cold / 2 ? Stretch::validation : Stretch::test;
  return parts;
}

}  // namespace

Dataset split_cold_items(const Interactions& log, const Filters& filters, std::uint32_t seed,
                         const Execution& execution) {
  if (filters.known_items == nullptr)
    fail(ErrorKind::usage, "the split by cold items needs what is known of them; give {}", "item-features"_p);
  std::vector<std::int32_t> eligible = eligible_items(log, filters, execution);
  constexpr std::size_t fewest = 3;
  if (eligible.size() < fewest)
    fail(ErrorKind::input,
         "only {} items have both features and users, and the split by cold items needs at least {}; check "
         "that "
         "the ids of {} are those of the log",
         eligible.size(), fewest, "item-features"_p);
  const Stretches part = parts_of_items(log.items, std::move(eligible), seed);
  Stretches stretches(log.rows());
  for (std::int64_t r = 0; r < log.rows(); ++r) stretches[r] = part[log.item[r]];
  return split_by(log, stretches, true, SplitKind::cold_items, filters, execution);
}

}  // namespace poise
