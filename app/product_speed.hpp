#pragma once

#include "poise/backend/backend.hpp"
#include "poise/backend/kernel_choice.hpp"

#include "command.hpp"

namespace poise::app {

/// The kernels of this process.
KernelChoice kernel_choice();

/// Says on stderr, in one line, that products are much slower than the processor allows, where they are. A
/// GPU's are not looked at.
void warn_if_slow(const Backend& backend, const Context& context);

}  // namespace poise::app
