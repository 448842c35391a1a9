#pragma once

#include <string>

#include "command.hpp"

namespace poise::app {

/// The expected needs of a command, from sizes known beforehand.
struct Estimate {
  double seconds = 0;
  double bytes = 0;
};

/// Prints the estimate if the work takes long enough to matter.
void say_estimate(const Estimate& estimate, const Context& context);

/// Error{resources} if the estimate is above the memory limit; `instead` says what would fit.
void refuse_if_too_large(const Estimate& estimate, const Context& context, const std::string& instead);

}  // namespace poise::app
