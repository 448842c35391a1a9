#pragma once

#include <string>

#include "command.hpp"

namespace poise::app {

/// What a command expects to need, from sizes known beforehand.
struct Estimate {
  double seconds = 0;
  double bytes = 0;
};

/// Says the estimate when the work is long enough for somebody to wait.
void say_estimate(const Estimate& estimate, const Context& context);

/// Error{resources} when the estimate is above the memory limit; `instead` says what would fit.
void refuse_if_too_large(const Estimate& estimate, const Context& context, const std::string& instead);

}  // namespace poise::app
