#pragma once

#include "poise/model/asymmetric/problem.hpp"
#include "poise/model/low_rank/gauge.hpp"

namespace poise {

/// The basis of the V step: Z' diag(a) Z = diag(values), and the regularization of v is lambda I (for dropout
/// U'U = I). Directions in which U vanishes are dropped.
Gauge v_step_gauge(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend);

/// The basis of the U step: V' diag(b) V = diag(values), and for dropout V'V = I. Directions in which V
/// vanishes are dropped. Reads `V` alone.
Gauge u_step_gauge(const AsymmetricProblem& problem, In<float> V, Backend& backend);

/// The orthogonal factor of the polar decomposition of A (d x d): the rotation nearest to it.
Matrix<double> nearest_rotation(Matrix<double> A, Backend& backend);

/// The same by products alone, in the place of A: X <- X - X (X'X - I) / 2 from A / ||A||. Every singular
/// value s <= 1 becomes s (3 - s^2) / 2, which grows to 1, by half its size while it is small and at last
/// quadratically. False, with A unchanged, if one is below 1e-9 of the largest.
bool rotate_by_newton(Matrix<double>& A, Backend& backend);

}  // namespace poise
