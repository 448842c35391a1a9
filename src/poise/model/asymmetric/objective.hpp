#pragma once

#include <array>

#include "poise/model/asymmetric/problem.hpp"

namespace poise {

/// The objective of a complete point, in float64: with p = z_u . v_i,
///
///     sum_X W - 2 sum_X W p + sum_C a b C p^2 + tr((Z' diag(a) Z) (V' diag(b) V)) + R(U, V),
///
/// the background through d x d matrices, the rest on stored entries. O(nnz + n d^2).
double asymmetric_objective(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend);

/// The objective along a line, F(U + t dU, V + t dV), which is a polynomial of degree 4 in t.
class AsymmetricLine {
 public:
  /// `step` holds dU, dV and dZ = X dU; its other members are not read. 4 nnz d + 4 m d^2 operations.
  AsymmetricLine(const AsymmetricProblem& problem, const AsymmetricPoint& point, const AsymmetricPoint& step,
                 Backend& backend);

  /// The objective at 0 less that at t.
  [[nodiscard]] double decrease(double t) const;
  /// The t in [0, 20] where the objective is lowest.
  [[nodiscard]] double best() const;
  /// Moves the point there: all of its members.
  void move(double t, const AsymmetricPoint& step, AsymmetricPoint& point) const;

 private:
  Backend& backend_;
  std::array<double, 5> coefficients_ = {};  ///< of t^k; that of t^0 is not read
  Resident<float> scores_1_;                 ///< scores are p + t p_1 + t^2 p_2
  Resident<float> scores_2_;
  Matrix<double> gram_1_;  ///< Z_gram likewise
  Matrix<double> gram_2_;
};

}  // namespace poise
