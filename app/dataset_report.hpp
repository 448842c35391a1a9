#pragma once

#include <string>

#include "poise/data/dataset.hpp"

#include "command.hpp"

namespace poise::app {

/// The size and counts of prepared data, as `prepare` and `info` print them.
Json dataset_json(const Dataset& dataset);
std::string dataset_text(const Dataset& dataset);

}  // namespace poise::app
