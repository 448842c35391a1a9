#pragma once

#include <cstdint>
#include <string>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset.hpp"
#include "poise/data/interactions.hpp"

namespace poise {

/// All interactions of prepared data as one log, with their values: training rows, histories and targets. A
/// pair that is in two parts appears twice. Rows are ordered by item, so that a split numbers items in their
/// present order; the order of a user's items in the original log is unknown.
Interactions pooled_log(const Dataset& dataset);

/// The share of targets of the split `users`: the roundest number that gives every held-out user as many
/// targets as it has or, if there is none, the share of targets among their rows.
double target_share_of(const Dataset& dataset);

/// Error{input} for data that cannot be split again: of another split than `users` and `given`, or without
/// their parts. `name` is the data's name in the message.
void check_can_split_again(const Dataset& dataset, const std::string& name);

/// Prepared data split again with another seed, by the same protocol and in the same sizes. Nothing is
/// filtered; held-out rows of items without a training row are dropped and counted.
///
/// `users`: as many users are held out for validation and for test, with the same share of targets. A seed
/// that holds out the same users as now (that of the preparation) returns the data unchanged, because their
/// targets cannot be drawn again without the order of the log.
/// `given`: each user's rows of all parts are shuffled, and each part gets as many of them as it had.
///
/// Throws as check_can_split_again.
Dataset split_again(const Dataset& dataset, std::uint32_t seed, const std::string& name,
                    const Execution& execution);

}  // namespace poise
