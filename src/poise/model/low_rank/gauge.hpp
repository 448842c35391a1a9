#pragma once

#include <algorithm>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// A change of basis: U T and V T_dual give the same U V' where T T_dual' = I, or the identity on the
/// directions that are not dropped. d x d', d' <= d.
struct Gauge {
  Matrix<double> T;
  Matrix<double> T_dual;
  std::vector<double> values;  ///< d': the diagonal in this basis, descending
};

/// The retained part of a factor's Gram matrix, F diag(r^2) F'.
struct Roots {
  Matrix<double> F;       ///< without rows: the factor stands in its eigenbasis, F = I
  std::vector<double> r;  ///< for the first columns of F; for all where F = I, 0 where nothing is kept

  [[nodiscard]] Matrix<double> root() const;     ///< F diag(r), given F
  [[nodiscard]] Matrix<double> inverse() const;  ///< F diag(1 / r)
};
/// Without the eigenvalues up to `cut_off` of the largest.
Roots roots_of(const Matrix<double>& S, double cut_off, Backend& backend);

/// Balances a pair: U'KU = V'V = diag(values), the singular values of U V', where the roots are those of
/// U'KU, K = I or X'X: the smallest ||U||_K^2 + ||V||^2, twice the sum of the values, among all pairs with
/// this U V'. (QR of both, the singular values of R_u R_v' split evenly, written through d x d Gram matrices
/// in float64.) Directions whose singular value is below 1e-7 of the largest, or of `scale`, are dropped.
Gauge balancing_gauge(const Roots& of_U, const Matrix<double>& V_gram, double scale, Backend& backend);

/// A'B A for symmetric B.
Matrix<double> congruent(const Matrix<double>& A, const Matrix<double>& B, Backend& backend);
/// Eigenvalues, none below 0.
EigenPairs nonnegative_pairs(Matrix<double> A, Backend& backend);

/// The first columns of A, with zeros beyond its own.
template <class T>
Matrix<T> with_columns(Matrix<T> A, std::int64_t columns) {
  if (A.cols() == columns) return A;
  Matrix<T> result(A.rows(), columns);
  for (std::int64_t i = 0; i < A.rows(); ++i)
    std::copy_n(A.row(i).begin(), std::min(columns, A.cols()), result.row(i).begin());
  return result;
}

/// A T.
Resident<float> changed(In<float> A, const Matrix<double>& T, Backend& backend);

}  // namespace poise
