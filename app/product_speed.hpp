#pragma once

#include "poise/backend/backend.hpp"

#include "command.hpp"

namespace poise::app {

/// The kernels that OpenBLAS runs, and who chose them (backend/blas_kernel.hpp).
struct KernelChoice {
  std::string core;    ///< that runs
  std::string by;      ///< "openblas", "poise", or "environment": the user's OPENBLAS_CORETYPE
  std::string found;   ///< of "poise": what OpenBLAS had come up with
  std::string better;  ///< what would suit the processor better; empty as a rule
  std::string why;     ///< a sentence for people
};
KernelChoice kernel_choice();

/// Says on stderr, in one line, that products are much slower than the processor allows, where they are. A
/// GPU's are not looked at.
void warn_if_slow(const Backend& backend, const Context& context);

}  // namespace poise::app
