#pragma once

#include <vector>

#include "poise/model/asymmetric/problem.hpp"

namespace poise {

/// A change of basis: U T and V T_dual give the same U V' where T T_dual' = I, or the identity on the
/// directions that are not dropped. d x d', d' <= d.
struct Gauge {
  Matrix<double> T;
  Matrix<double> T_dual;
  std::vector<double> values;  ///< d': what the basis makes diagonal, descending
};

/// The basis of the V step: Z' diag(a) Z = diag(values), and the regularization of v is lambda I (for dropout
/// U'U = I). Directions in which U vanishes are dropped.
Gauge v_step_gauge(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend);

/// The basis of the U step: V' diag(b) V = diag(values), and for dropout V'V = I. Directions in which V
/// vanishes are dropped. `V` is all that is read.
Gauge u_step_gauge(const AsymmetricProblem& problem, MatrixView<const float> V, Backend& backend);

/// Balances the pair: U'KU = V'V = diag(values), where `K_gram` is U'KU, K = I or X'X: the smallest
/// ||U||_K^2 + ||V||^2 among all pairs with this U V'. (QR of both, the singular values of R_u R_v' split
/// evenly, written through d x d Gram matrices in float64.) Directions whose singular value is below 1e-7 of
/// the largest, or of `scale`, are dropped.
Gauge balancing_gauge(const Matrix<double>& K_gram, MatrixView<const float> V, double scale,
                      Backend& backend);

/// A T.
Resident<float> changed(MatrixView<const float> A, const Matrix<double>& T, Backend& backend);

/// The orthogonal factor of the polar decomposition of A (d x d): the rotation nearest to it.
Matrix<double> nearest_rotation(Matrix<double> A, Backend& backend);

/// The same by products alone, in the place of A: X <- X - X (X'X - I) / 2 from A / ||A||. Every singular
/// value s <= 1 becomes s (3 - s^2) / 2, which grows to 1, by half its size while it is small and at last
/// quadratically. False, with A as it was, where one is below 1e-9 of the largest.
bool rotate_by_newton(Matrix<double>& A, Backend& backend);

}  // namespace poise
