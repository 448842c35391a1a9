#pragma once

#include <cstdint>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// Floats added side by side; the columns of a packed block are padded to a multiple of it.
constexpr std::int64_t spmm_lane = 16;

/// Rows [first, last) of Y = X B. Every version adds in the same order, so a row's result does not depend on
/// the kernel that computed it.
struct SpmmKernels {
  /// Any B, any width: its running sums live in the first-level cache.
  void (*direct)(CsrView x, std::int64_t first, std::int64_t last, MatrixView<const float> b,
                 MatrixView<float> y);
  /// B padded to 16, 32, 64 or 128 columns: running sums live in registers.
  void (*packed)(CsrView x, std::int64_t first, std::int64_t last, MatrixView<const float> b,
                 MatrixView<float> y);
  /// Any B, any width, in float64.
  void (*float64)(CsrView x, std::int64_t first, std::int64_t last, MatrixView<const double> b,
                  MatrixView<double> y);
};

/// The version for this processor.
SpmmKernels spmm_kernels();

}  // namespace poise
