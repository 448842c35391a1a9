#pragma once

#include <string>

namespace poise {

/// The BLAS that is linked and the processor it chose its kernels for, e.g. "OpenBLAS 0.3.21 (Zen, openmp)".
std::string blas_description();

/// The core type whose kernels OpenBLAS uses, e.g. "Zen".
std::string blas_core();

}  // namespace poise
