#include "support/dense_oracle.hpp"

namespace poise::testing {

Eigen::MatrixXd to_dense(CsrView matrix) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(matrix.rows, matrix.cols);
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    const auto values = matrix.row_values(u);
    for (std::size_t k = 0; k < matrix.row(u).size(); ++k)
      dense(u, matrix.row(u)[k]) = values.empty() ? 1.0 : values[k];
  }
  return dense;
}

DenseOracle::DenseOracle(CsrView x, const Weights& weights, Eigen::VectorXd lambda)
    : X(to_dense(x)), W(Eigen::MatrixXd::Ones(x.rows, x.cols)), l(std::move(lambda)) {
  X = (X.array() != 0).cast<double>();
  Y = X;
  for (std::int64_t u = 0; u < x.rows; ++u) {
    for (std::int64_t i = 0; i < x.cols; ++i) W(u, i) = weights.a_of(u) * weights.b_of(i);
    if (weights.c.empty()) continue;
    for (std::int64_t e = weights.support.offsets[u]; e < weights.support.offsets[u + 1]; ++e) {
      W(u, weights.support.indices[e]) *= 1.0 + static_cast<double>(weights.c[e]);
    }
  }
}

DenseOracle with_features(DenseOracle oracle, CsrView F, double beta, const Weights& weights) {
  const Eigen::Index users = oracle.X.rows();
  oracle.X.conservativeResize(users + F.rows, Eigen::NoChange);
  oracle.X.bottomRows(F.rows) = to_dense(F);
  oracle.Y = oracle.X;
  oracle.W.conservativeResize(users + F.rows, Eigen::NoChange);
  for (Eigen::Index i = 0; i < oracle.X.cols(); ++i)
    oracle.W.col(i).tail(F.rows).setConstant(beta * weights.b_of(i));
  return oracle;
}

Eigen::MatrixXd DenseOracle::H(Eigen::Index i) const {
  Eigen::MatrixXd result = X.transpose() * W.col(i).asDiagonal() * X;
  result.diagonal() += l;
  return result;
}

Eigen::VectorXd DenseOracle::c(Eigen::Index i) const {
  return X.transpose() * W.col(i).cwiseProduct(Y.col(i));
}

Eigen::VectorXd DenseOracle::solve(Eigen::Index i, bool zero_diagonal) const {
  Eigen::MatrixXd system = H(i);
  Eigen::VectorXd rhs = c(i);
  if (zero_diagonal) {  // the equation of coordinate i is replaced by beta_i = 0
    system.row(i).setZero();
    system.col(i).setZero();
    system(i, i) = 1;
    rhs(i) = 0;
  }
  const Eigen::LDLT<Eigen::MatrixXd> factor(system);
  Eigen::VectorXd beta = factor.solve(rhs);
  beta += factor.solve(rhs - system * beta);
  return beta;
}

double DenseOracle::objective(Eigen::Index i, const Eigen::VectorXd& beta) const {
  const Eigen::VectorXd error = Y.col(i) - X * beta;
  return error.cwiseProduct(error).dot(W.col(i)) + beta.cwiseProduct(beta).dot(l);
}

double DenseOracle::excess(Eigen::Index i, const Eigen::VectorXd& beta, bool zero_diagonal) const {
  const Eigen::VectorXd difference = beta - solve(i, zero_diagonal);
  const Eigen::VectorXd fitted = X * difference;
  return fitted.cwiseProduct(fitted).dot(W.col(i)) + difference.cwiseProduct(difference).dot(l);
}

}  // namespace poise::testing
