#pragma once

#include "poise/backend/backend.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// U <- U A_u, V <- V A_v.
struct Rebalanced {
  Matrix<double> A_u;
  Matrix<double> A_v;
  double change = 0;  ///< of ||U||^2 + ||V||^2; never above 0
};

/// The change of basis that keeps U V' and makes ||U||^2 + ||V||^2 least: with U V' = P S R', U A_u = P
/// sqrt(S) and V A_v = R sqrt(S), columns in descending order. From the d x d matrices U'U and V'V alone;
/// directions in which U V' is numerically 0 become 0.
Rebalanced rebalance(const Matrix<double>& U_gram, const Matrix<double>& V_gram, Backend& backend);

}  // namespace poise
