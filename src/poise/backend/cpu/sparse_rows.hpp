#pragma once

#include <algorithm>
#include <cstdint>

#include "poise/base/parallel.hpp"
#include "poise/linalg/matrix.hpp"

/// Common parts of the products with a sparse matrix.
namespace poise {

/// Sums of that many entries are float32, sums of such sums float64.
constexpr std::int64_t run_length = 32;
/// Rows that a thread takes at a time.
constexpr std::int64_t sparse_rows_per_tile = 64;

/// B with zeros beyond its columns.
inline void pack(int threads, MatrixView<const float> b, MatrixView<float> packed) {
  for_each_row({b.rows, 256}, threads, [&](std::int64_t i) {
    const auto padding = std::copy_n(b.row(i).begin(), b.cols, packed.row(i).begin());
    std::fill(padding, packed.row(i).end(), 0.0F);
  });
}

}  // namespace poise
