#pragma once

#include <cstdint>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset.hpp"
#include "poise/data/interactions.hpp"
#include "poise/data/item_features.hpp"

namespace poise {

/// How many rows a merge added, removed and left out.
struct MergeCounts {
  std::int64_t log_rows = 0;    ///< of the log, as it was read
  std::int64_t added = 0;       ///< pairs that are new to the training rows
  std::int64_t known = 0;       ///< pairs that were there: their values add up
  std::int64_t duplicates = 0;  ///< rows of the log that repeat a pair of the log
  std::int64_t held_out = 0;    ///< rows left out: of held-out users, or targets of a given split
  std::int64_t removed = 0;     ///< pairs taken out
  std::int64_t not_there = 0;   ///< pairs to remove that no training row has
  std::int64_t new_users = 0;
  std::int64_t changed_users = 0;     ///< of the users that were there
  std::int64_t new_items = 0;         ///< with those that have features alone
  std::int64_t described_items = 0;   ///< that had no features and got some
  std::int64_t described_before = 0;  ///< of the table of features: their features stay what they are
  std::int64_t unknown_features = 0;  ///< pairs of an item and a feature left out: the data lack the feature
};

/// Prepared data with further training rows and without others.
struct Merged {
  Dataset dataset;
  /// The users that were there and whose training row differs, ascending. New users are the rows from the
  /// old number of users on, new items the columns from the old number of items on.
  std::vector<std::int32_t> changed;
  /// The items that got features, ascending.
  std::vector<std::int32_t> described = {};
  MergeCounts counts;
};

/// Removes the pairs of `removed`, then adds the pairs of `log`; either may be null. Users and items that are
/// there keep their numbers, also those that have no row left; new ones follow in the order of their first
/// row. Nothing is filtered, and the held-out parts stay as they are: rows of their users (with the split
/// `given`, pairs that are targets) are left out and counted, because to train on them would spoil what is
/// measured. Values count as in `prepare`: those of one pair add up; data without values ignore the log's.
///
/// A table of features describes items that have none so far, new or not, by the features that the data know:
/// what these mean does not change. Items that nobody has join the catalogue behind those of the log, in the
/// order of the table, as in `prepare`. Other new items have no features.
///
/// Error{usage} for data that are cut in time or hold items out, for data with dislikes and for a log that
/// marks rows; Error{input} for a log without values where the data have them, for a user to remove who has
/// no training row, for a table of features where the data have none, for values that add up to more than a
/// float holds, and where no training row is left. O(entries + rows).
Merged merge(const Dataset& data, const Interactions* log, const Interactions* removed,
             const Execution& execution, const FeatureTable* features = nullptr);

}  // namespace poise
