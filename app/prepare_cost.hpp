#pragma once

#include <filesystem>
#include <span>

#include "command.hpp"

namespace poise::app {

/// Prints what reading these logs will take, and refuses it if it cannot fit.
void say_prepare_estimate(std::span<const std::filesystem::path> inputs, const Context& context);

}  // namespace poise::app
