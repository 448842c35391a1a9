#pragma once

#include <cstdint>
#include <string>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset.hpp"
#include "poise/data/interactions.hpp"

namespace poise {

/// All interactions of prepared data as one log, with their values: training rows, histories and targets. A
/// pair that stands in two parts is there twice. Rows go item by item, so that a split numbers items in the
/// order they have here; the order in which a user met them is not known any more.
Interactions pooled_log(const Dataset& dataset);

/// The share of their items that the held-out users of the split `users` were to find: the roundest that
/// gives every one of them as many targets as it has, or, where none does, the targets' part of their rows.
double target_share_of(const Dataset& dataset);

/// Error{input} for data that no seed can split again: of another split than `users` and `given`, or without
/// the parts that they have. `name` is what the message calls them.
void check_can_split_again(const Dataset& dataset, const std::string& name);

/// Prepared data split again by another seed, by the same protocol and in the same sizes. Nothing is
/// filtered; held-out rows of items without a training row are dropped and counted.
///
/// `users`: as many users are held out for validation and for test, with the same share of targets. A seed
/// that holds out the users that are held out already (that of the preparation) gives the data as they are,
/// with targets that a log without its order could not give again.
/// `given`: each user's rows of all parts are shuffled, and each part gets as many of them as it had.
///
/// Throws as check_can_split_again.
Dataset split_again(const Dataset& dataset, std::uint32_t seed, const std::string& name,
                    const Execution& execution);

}  // namespace poise
