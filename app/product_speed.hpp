#pragma once

#include "poise/backend/backend.hpp"
#include "poise/backend/kernel_choice.hpp"

#include "command.hpp"

namespace poise::app {

/// The kernels of this process.
KernelChoice kernel_choice();

/// Prints one line on stderr if products are much slower than the processor allows. Products on a GPU are not
/// checked.
void warn_if_slow(const Backend& backend, const Context& context);

}  // namespace poise::app
