#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset.hpp"
#include "poise/data/histories.hpp"
#include "poise/data/interactions.hpp"
#include "poise/data/log_reader.hpp"

namespace poise {

/// A held-out user with fewer catalogue items gives no targets.
constexpr std::int64_t smallest_split_history = 5;

/// The protocol of Liang et al. (2018): whole users are held out, and a share of each user's items are the
/// targets.
struct UserSplit {
  std::optional<std::int64_t> held_out_users;         ///< for validation and for test each; default: a tenth
  std::optional<std::int64_t> validation_users = {};  ///< for validation, if it differs
  double target_share = 0.2;                          ///< above 0 and below 1
  std::uint32_t seed = 98765;
};

/// Splits a log by users, with the same random draws as the published code: users sorted by id are permuted;
/// the last H are test, the H (or validation_users) before them validation, the rest train. Items are
/// numbered by first appearance among the training rows; these items are the catalogue. A held-out user with
/// k >= 5 catalogue items gets int(target_share * k) random ones as targets, drawn in the order of the ids
/// from a new generator for each part; a user with fewer items gets none.
Dataset split_users(const Interactions& log, const Filters& filters, const UserSplit& options,
                    const Execution& execution);

/// All rows are training rows; users in order of first appearance.
Dataset split_none(const Interactions& log, const Filters& filters, const Execution& execution);

/// An existing split: a training log, and held-out logs of (mostly) the same users. Nothing is filtered;
/// held-out entries whose item no training user has are dropped and counted, except known items (Filters).
Dataset split_given(const Interactions& train, const std::optional<Interactions>& validation,
                    const std::optional<Interactions>& test, const Execution& execution,
                    const Ids* known_items = nullptr);

/// A tenth of the items that have features (Filters::known_items) and users is cold: no training user has
/// one. Half of these are the targets of the validation part, the others of the test part; the users of both
/// are training users, and their histories are what they have in the parts before. Drawn by the seed in the
/// order of the ids.
Dataset split_cold_items(const Interactions& log, const Filters& filters, std::uint32_t seed,
                         const Execution& execution);

/// A place in a log: a time (microseconds since 1970), or what is behind all but a share of the latest rows.
struct CutPlace {
  std::optional<std::int64_t> time = {};
  double share = 0;  ///< above 0 and below 1; without a time
};

/// "10%", or a time as logs have it. Error{usage} for other texts.
CutPlace parse_cut(std::string_view text, TimeUnit unit = TimeUnit::automatic);

/// Where to cut a log in time.
struct TimeSplit {
  CutPlace test_from;
  /// Of a share: of the rows before `test_from`, so that no later row moves it. Empty: no validation part.
  std::optional<CutPlace> validation_from = {};
  std::optional<std::int64_t> test_to = {};  ///< rows at or after it are left out
};

/// Training rows are those before the first cut, strictly. A user with rows in a held-out part is scored
/// there if its history, the rows before that part, passes the filter of users; the history is its fold-in.
/// Its targets are the items that it has in the part and not in the history. Filters, the catalogue, the
/// numbers of users and items and all values are computed from rows before the cut alone, so that no later
/// row changes them; users, items and pairs that are left out are counted. Rows of one pair merge within a
/// part, and in a history with all their values before its end. Error{usage} for a log without times or a cut
/// that leaves a part without rows.
Dataset split_time(const Interactions& log, const Filters& filters, const TimeSplit& options,
                   const Execution& execution);

/// As split_time, but each user has cuts of its own: with more than 2 `holdout` items, the `holdout` that it
/// came to last are the test part, as many before them the validation part. A user comes to an item with the
/// earliest row of the pair; of rows with equal times the one that stands first in the log is the earlier. A
/// user with fewer items has training rows alone.
Dataset split_last(const Interactions& log, const Filters& filters, std::int64_t holdout,
                   const Execution& execution);

}  // namespace poise
