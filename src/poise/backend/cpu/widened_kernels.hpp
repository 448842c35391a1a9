#pragma once

#include <cstdint>

namespace poise {

/// Columns of B and C that are multiplied side by side.
constexpr std::int64_t widened_width = 16;

/// A part of A, or of A', by rows of C: entry (r, k) is data[r * stride + k], or data[k * stride + r] of A'.
struct WidenedPart {
  const float* data;
  std::int64_t stride;
  bool transposed;
  std::int64_t rows;
  std::int64_t inner;
};

/// out += A b, with b (inner x 16) and out (rows x 16) contiguous, A's numbers widened as they are read.
using AddWidened = void (*)(const WidenedPart& a, const double* b, double* out);

/// The version for this processor.
AddWidened add_widened();

}  // namespace poise
