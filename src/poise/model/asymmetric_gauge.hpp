#pragma once

#include <vector>

#include "poise/model/asymmetric_problem.hpp"

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
Gauge v_step_gauge(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend,
                   const Execution& execution);

/// The basis of the U step: V' diag(b) V = diag(values), and for dropout V'V = I. Directions in which V
/// vanishes are dropped. `V` is all that is read.
Gauge u_step_gauge(const AsymmetricProblem& problem, const Matrix<float>& V, Backend& backend,
                   const Execution& execution);

/// Balances the pair: U'KU = V'V = diag(values), where `K_gram` is U'KU, K = I or X'X: the smallest
/// ||U||_K^2 + ||V||^2 among all pairs with this U V'. (QR of both, the singular values of R_u R_v' split
/// evenly, written through d x d Gram matrices in float64.) Directions whose singular value is below 1e-7 of
/// the largest, or of `scale`, are dropped.
Gauge balancing_gauge(const Matrix<double>& K_gram, const Matrix<float>& V, double scale, Backend& backend,
                      const Execution& execution);

/// A T.
Matrix<float> changed(const Matrix<float>& A, const Matrix<double>& T, Backend& backend);

/// The orthogonal factor of the polar decomposition of A (d x d): the rotation nearest to it.
Matrix<double> nearest_rotation(Matrix<double> A, Backend& backend);

/// A B, small and in float64.
Matrix<double> product(const Matrix<double>& A, const Matrix<double>& B, Backend& backend);

}  // namespace poise
