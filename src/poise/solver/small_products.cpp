#include "poise/solver/small_products.hpp"

#include <cassert>

namespace poise {

Matrix<double> product(const Matrix<double>& A, const Matrix<double>& B, Backend& backend) {
  assert(A.cols() == B.rows());
  if (A.rows() == 0 || B.cols() == 0 || A.cols() == 0) return {A.rows(), B.cols()};
  return times(Op::none, Lent(backend, A).view(), B, backend);
}

Matrix<double> transposed(const Matrix<double>& A) {
  Matrix<double> result(A.cols(), A.rows());
  for (std::int64_t r = 0; r < A.rows(); ++r) {
    for (std::int64_t c = 0; c < A.cols(); ++c) result(c, r) = A(r, c);
  }
  return result;
}

Matrix<double> identity(std::int64_t d) {
  Matrix<double> result(d, d);
  for (std::int64_t k = 0; k < d; ++k) result(k, k) = 1;
  return result;
}

}  // namespace poise
