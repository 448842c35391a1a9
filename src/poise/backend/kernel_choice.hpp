#pragma once

#include <string>

#include "poise/backend/blas_kernel.hpp"
#include "poise/backend/cpu/kernel_speed.hpp"

namespace poise {

/// The kernels that OpenBLAS runs, and who chose them.
struct KernelChoice {
  std::string core;    ///< that runs
  std::string by;      ///< "openblas", "poise", or "environment": the user's OPENBLAS_CORETYPE
  std::string found;   ///< of "poise": what OpenBLAS had come up with
  std::string better;  ///< what would suit the processor better; empty as a rule
  std::string why;     ///< for people
};

/// From the core type that runs, OPENBLAS_CORETYPE (null where it is not set), and the core type that
/// OpenBLAS had come up with before Poise set that variable (null where it did not).
KernelChoice kernel_choice(const Processor& processor, const std::string& core, const char* wanted,
                           const char* found);

/// A warning where products are a small part of what the processor can do; empty otherwise.
std::string slow_products(const KernelSpeed& speed, const KernelChoice& choice);

}  // namespace poise
