#pragma once

#include <Eigen/Dense>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/closed_form.hpp"
#include "poise/weighting/weights.hpp"

namespace poise::testing {

/// The asymmetric problem as dense float64 matrices, its blocks as the paper's Kronecker systems on
/// vectorized (column after column) unknowns.
struct AsymmetricOracle {
  Eigen::MatrixXd X;
  Eigen::MatrixXd W;
  Regularizer regularizer;
  double lambda;

  AsymmetricOracle(CsrView x, const Weights& weights, Regularizer regularizer, double lambda);

  [[nodiscard]] double objective(const Eigen::MatrixXd& U, const Eigen::MatrixXd& V) const;
  /// (V (x) X)' diag(vec W) (V (x) X) + R, and vec(X'(W o X) V).
  [[nodiscard]] Eigen::MatrixXd H_U(const Eigen::MatrixXd& V) const;
  [[nodiscard]] Eigen::VectorXd rhs_U(const Eigen::MatrixXd& V) const;
  /// (XU (x) I)' diag(vec W') (XU (x) I) + R, and vec((W o X)' X U).
  [[nodiscard]] Eigen::MatrixXd H_V(const Eigen::MatrixXd& U) const;
  [[nodiscard]] Eigen::VectorXd rhs_V(const Eigen::MatrixXd& U) const;
  /// How much re-solving one block exactly lowers the objective.
  [[nodiscard]] double U_gain(const Eigen::MatrixXd& U, const Eigen::MatrixXd& V) const;
  [[nodiscard]] double V_gain(const Eigen::MatrixXd& U, const Eigen::MatrixXd& V) const;
};

Eigen::MatrixXd kronecker(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
Eigen::MatrixXd to_eigen(const Matrix<float>& matrix);
Eigen::VectorXd vec(const Eigen::MatrixXd& matrix);

/// Weights with all their parts: user and item weights, and C in [-0.6, 3] on a support that is not X's.
struct GeneralWeights {
  Csr support;
  Weights W;

  GeneralWeights(CsrView X, unsigned seed, bool with_a = true, bool with_b = true);
};

}  // namespace poise::testing
