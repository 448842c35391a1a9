#pragma once

#include <Eigen/Dense>

#include "poise/linalg/csr.hpp"
#include "poise/weighting/weights.hpp"

namespace poise::testing {

/// The weighted full-rank problem as dense float64 matrices, solved column by column: the oracle of the
/// solvers.
struct DenseOracle {
  Eigen::MatrixXd X;
  Eigen::MatrixXd W;
  Eigen::MatrixXd Y;
  Eigen::VectorXd l;

  DenseOracle(CsrView x, const Weights& weights, Eigen::VectorXd lambda);

  [[nodiscard]] Eigen::MatrixXd H(Eigen::Index i) const;
  [[nodiscard]] Eigen::VectorXd c(Eigen::Index i) const;
  /// B_:i of the optimum.
  [[nodiscard]] Eigen::VectorXd solve(Eigen::Index i, bool zero_diagonal) const;
  [[nodiscard]] double objective(Eigen::Index i, const Eigen::VectorXd& beta) const;
  /// objective(beta) - minimum without cancellation: the quadratic form of the difference.
  [[nodiscard]] double excess(Eigen::Index i, const Eigen::VectorXd& beta, bool zero_diagonal) const;
};

/// The same with features F of items: rows of X with the weight beta b_i and without another weight.
DenseOracle with_features(DenseOracle oracle, CsrView F, double beta, const Weights& weights);

Eigen::MatrixXd to_dense(CsrView matrix);

}  // namespace poise::testing
