#pragma once

#include "poise/linalg/matrix.hpp"

namespace poise {

/// A B of small float64 matrices, in a fixed order of additions.
Matrix<double> product(const Matrix<double>& A, const Matrix<double>& B);

/// A'.
Matrix<double> transposed(const Matrix<double>& A);

/// The d x d identity.
Matrix<double> identity(std::int64_t d);

}  // namespace poise
