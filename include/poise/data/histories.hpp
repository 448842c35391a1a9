#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/data/interactions.hpp"

namespace poise {

/// A log by user: each user's distinct items in the order of their first appearance in the file. Repeated
/// pairs are merged and their values added up.
struct Histories {
  std::int64_t items = 0;
  std::vector<std::int64_t> first;  ///< user u begins at first[u]
  std::vector<std::int64_t> last;   ///< and ends before last[u]
  std::vector<std::int32_t> item;
  std::vector<float> value;     ///< empty if the log has none
  std::int64_t duplicates = 0;  ///< rows merged away

  [[nodiscard]] std::int64_t users() const { return static_cast<std::int64_t>(first.size()); }
  [[nodiscard]] std::span<const std::int32_t> user(std::int64_t u) const {
    return std::span(item).subspan(first[u], last[u] - first[u]);
  }
};

/// Groups a log by user. O(rows + users + items * threads); memory beyond the result: one number per item and
/// thread. Error{input} if the summed values of a pair exceed the range of float.
Histories group_by_user(const Interactions& log, const Execution& execution);

/// Which users and items are kept.
struct Kept {
  std::vector<bool> users;
  std::vector<bool> items;
};

struct Filters {
  std::int64_t min_user_items = 0;
  std::int64_t min_item_users = 0;
  bool k_core = false;  ///< repeat both until nothing changes
  /// Items that are in the catalogue without a training row too, unless they are filtered; null: none.
  const Ids* known_items = nullptr;
};

/// Drops items with too few users once, then users with too few or no kept items once; see Filters.
Kept apply_filters(const Histories& histories, const Filters& filters);

}  // namespace poise
