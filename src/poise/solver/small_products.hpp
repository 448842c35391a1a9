#pragma once

#include "poise/backend/resident.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// op(A) B with A where the backend computes, B and the result in ordinary memory.
template <class Left, class T>
Matrix<T> times(Op op, In<Left> A, const Matrix<T>& B, Backend& backend) {
  Resident<T> product(backend, op == Op::none ? A.rows : A.cols, B.cols());
  backend.gemm(op, Op::none, T{1}, A, Lent(backend, B).view(), T{0}, product.view());
  return product.take();
}

/// A B of small float64 matrices.
Matrix<double> product(const Matrix<double>& A, const Matrix<double>& B, Backend& backend);

Matrix<double> transposed(const Matrix<double>& A);

Matrix<double> identity(std::int64_t d);

}  // namespace poise
