#pragma once

#include <span>

#include "poise/base/parallel.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// Z' diag(a) Z in float64 (d x d, both triangles), a >= 0, empty: all 1. rows d^2 operations; memory for up
/// to 16 such matrices. Here and below: the same bytes whatever the thread count.
Matrix<double> factor_gram(MatrixView<const float> Z, std::span<const float> a, const Execution& execution);

/// Y' diag(a) Z likewise, at twice the cost.
Matrix<double> factor_product(MatrixView<const float> Y, std::span<const float> a, MatrixView<const float> Z,
                              const Execution& execution);

/// Z <- Z A in place.
void multiply_rows(MatrixView<float> Z, const Matrix<double>& A, const Execution& execution);

/// Y <- Z A + Y B; where B has no rows Y <- Z A, and Y is not read.
void combine_rows(MatrixView<const float> Z, const Matrix<double>& A, MatrixView<float> Y,
                  const Matrix<double>& B, const Execution& execution);

}  // namespace poise
