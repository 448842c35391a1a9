#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "poise/data/ids.hpp"
#include "poise/data/item_features.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/user_rows.hpp"

namespace poise {

/// Users to score: for each a history, and the targets to be found from it. Row k of all matrices belongs to
/// id k of `users`.
struct HeldOut {
  Ids users;
  Csr fold_in;  ///< has no entries of its own with the split `given`: see Dataset::histories
  Csr targets;
  Csr disliked = {};  ///< as Dataset::disliked; like `fold_in` without entries with the split `given`
  bool operator==(const HeldOut&) const = default;
};

enum class SplitKind { users, given, none, time, last, cold_items };

/// "users", "given", "none", "time", "last" or "cold-items".
std::string_view to_string(SplitKind split);

/// What `prepare` dropped and merged, as in `poise prepare --json`.
struct PrepareCounts {
  std::int64_t duplicates = 0;
  std::int64_t empty_ids = 0;
  std::int64_t below_threshold = 0;
  std::int64_t outside_catalogue = 0;
  std::int64_t skipped_lines = 0;
  std::int64_t filtered_users = 0;
  std::int64_t filtered_items = 0;
  std::int64_t filtered_interactions = 0;  ///< of filtered users or items
  std::int64_t dropped_dislikes = 0;       ///< pairs that are liked too, or whose user or item is in no part
  std::int64_t disliked_targets = 0;       ///< of the splits `given` and `time`: removed from the targets
  // Of the splits `time`, `last` and `cold_items`, the held-out parts together:
  std::int64_t unknown_users = 0;         ///< with later rows, but no (or too short a) history before the cut
  std::int64_t unknown_items = 0;         ///< with later rows, but no training row
  std::int64_t unknown_interactions = 0;  ///< of unknown users
  std::int64_t repeats = 0;               ///< pairs that the user has before the cut, too: no targets
  std::int64_t after_test = 0;            ///< rows at or after the end of the test part
  // Of item features:
  std::int64_t unknown_feature_items = 0;  ///< of the file of features that are not in the catalogue
  std::int64_t duplicate_features = 0;     ///< lines that repeat an item and feature, or an item
  std::int64_t rare_features = 0;          ///< texts that one item alone has
  bool operator==(const PrepareCounts&) const = default;
};

/// Where the split `time` cuts a log, in microseconds since 1970: rows from `validation` (if there is such a
/// part) up to `test` are validation, those from `test` up to `end` test. A row at a cut comes after it.
struct TimeCuts {
  std::optional<std::int64_t> validation;
  std::int64_t test = 0;
  std::optional<std::int64_t> end;
  bool operator==(const TimeCuts&) const = default;
};

/// Prepared data: the training matrix X (0/1 on its support; values are kept for the weighting schemes), and
/// the users held out for validation and test. All parts use the same item numbers.
struct Dataset {
  Ids items;
  Ids users;  ///< training users, the rows of X
  Csr train;
  std::optional<HeldOut> validation;
  std::optional<HeldOut> test;
  SplitKind split = SplitKind::none;
  PrepareCounts counts;
  Csr disliked = {};  ///< what the training users dislike, without values; no rows: nothing. No pair is in
                      ///< `train` too
  std::optional<TimeCuts> cuts = {};  ///< of the split `time`
  ItemFeatures features = {};         ///< of all items; no rows: none are known

  /// The training rows and dislikes.
  [[nodiscard]] UserRows training_rows() const { return {train.view(), disliked.view()}; }
  /// The histories of a part's users, and their dislikes. With the split `given` they are the training rows,
  /// then empty rows for the part's users without training rows; otherwise they are the part's fold-in.
  [[nodiscard]] UserRows histories(const HeldOut& part) const;
  bool operator==(const Dataset&) const = default;
};

/// The fold-in of a part of the split `given`: the offsets of the training rows, then empty rows up to `rows`
/// (at least train.rows), without entries of its own.
Csr borrowed_rows(const Csr& train, std::int64_t rows);

/// Throws Error{input} unless shapes, offsets, indices, values and ids fit together. Every loader calls it at
/// the end.
void validate(const Dataset& dataset, int threads = 1);

}  // namespace poise
