#pragma once

#include <cstdint>
#include <optional>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset.hpp"
#include "poise/data/histories.hpp"
#include "poise/data/interactions.hpp"

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
/// held-out entries whose item no training user has are dropped and counted.
Dataset split_given(const Interactions& train, const std::optional<Interactions>& validation,
                    const std::optional<Interactions>& test, const Execution& execution);

}  // namespace poise
