#pragma once

#include <cstdint>
#include <random>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise::testing {

/// Each entry stored with probability `density`; with values in [0.5, 1.5) if asked for, and every fifth row
/// empty with `gaps`.
inline Csr random_csr(std::int64_t rows, std::int64_t cols, double density, bool with_values, unsigned seed,
                      bool gaps = false) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform;
  Csr matrix{.rows = rows, .cols = cols, .offsets = {0}};
  for (std::int64_t r = 0; r < rows; ++r) {
    const bool empty = gaps && r % 5 == 2;
    for (std::int32_t c = 0; c < cols && !empty; ++c) {
      if (uniform(generator) >= density) continue;
      matrix.indices.push_back(c);
      if (with_values) matrix.values.push_back(static_cast<float>(0.5 + uniform(generator)));
    }
    matrix.offsets.push_back(matrix.entries());
  }
  return matrix;
}

/// Uniform in [-1, 1), or, with `levels` > 0, one of that many whole numbers, so that ties abound.
template <class T>
Matrix<T> random_matrix(std::int64_t rows, std::int64_t cols, unsigned seed, int levels = 0) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Matrix<T> matrix(rows, cols);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (T& value : matrix.row(r)) {
      value = levels > 0 ? static_cast<T>(generator() % levels) : static_cast<T>(uniform(generator));
    }
  }
  return matrix;
}

}  // namespace poise::testing
