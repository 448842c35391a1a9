#pragma once

#include <string>

#include "poise/data/dataset.hpp"

#include "command.hpp"

namespace poise::app {

/// The size and counts of prepared data, as `prepare` and `info` print them.
Json dataset_json(const Dataset& dataset);
std::string dataset_text(const Dataset& dataset);

/// A part without targets measures nothing, which the user is told: histories are too short for the share.
void say_if_without_targets(const Dataset& dataset, const Context& context);

}  // namespace poise::app
