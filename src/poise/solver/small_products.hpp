#pragma once

#include "poise/backend/backend.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// A B of small float64 matrices.
Matrix<double> product(const Matrix<double>& A, const Matrix<double>& B, Backend& backend);

Matrix<double> transposed(const Matrix<double>& A);

Matrix<double> identity(std::int64_t d);

}  // namespace poise
