#pragma once

#include <string>

#include "poise/backend/blas_kernel.hpp"
#include "poise/backend/cpu/kernel_speed.hpp"

namespace poise {

/// The linked BLAS and the processor whose kernels it uses, e.g. "OpenBLAS 0.3.21 (Zen, openmp)".
std::string blas_description();

/// The core type whose kernels OpenBLAS uses, e.g. "Zen".
std::string blas_core();

/// The kernels that OpenBLAS runs, and who chose them.
struct KernelChoice {
  std::string core;    ///< the one in use
  std::string by;      ///< "openblas", "poise", or "environment": the user's OPENBLAS_CORETYPE
  std::string found;   ///< for "poise": what OpenBLAS had chosen
  std::string better;  ///< a core type that suits the processor better; usually empty
  std::string why;     ///< a sentence for users
};

/// From the core type in use, OPENBLAS_CORETYPE (null if it is not set), and the core type that OpenBLAS had
/// chosen before Poise set that variable (null if Poise did not).
KernelChoice kernel_choice(const Processor& processor, const std::string& core, const char* wanted,
                           const char* found);

/// A warning if matrix products reach only a small part of the processor's speed; else empty.
std::string slow_products(const KernelSpeed& speed, const KernelChoice& choice);

}  // namespace poise
