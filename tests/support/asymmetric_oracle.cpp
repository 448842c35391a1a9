#include "support/asymmetric_oracle.hpp"

#include <random>

#include "poise/weighting/weighting.hpp"

#include "support/dense_oracle.hpp"
#include "support/random_data.hpp"

namespace poise::testing {

Eigen::MatrixXd kronecker(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  Eigen::MatrixXd result(A.rows() * B.rows(), A.cols() * B.cols());
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    for (Eigen::Index j = 0; j < A.cols(); ++j)
      result.block(i * B.rows(), j * B.cols(), B.rows(), B.cols()) = A(i, j) * B;
  }
  return result;
}

Eigen::MatrixXd to_eigen(const Matrix<float>& matrix) {
  Eigen::MatrixXd result(matrix.rows(), matrix.cols());
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    for (std::int64_t j = 0; j < matrix.cols(); ++j) result(i, j) = matrix(i, j);
  }
  return result;
}

Eigen::VectorXd vec(const Eigen::MatrixXd& matrix) {
  return Eigen::Map<const Eigen::VectorXd>(matrix.data(), matrix.size());
}

namespace {

Eigen::MatrixXd identity(Eigen::Index n) { return Eigen::MatrixXd::Identity(n, n); }

/// rho' H^+ rho: rho lies in the range of H.
double gain(const Eigen::MatrixXd& H, const Eigen::VectorXd& rho) {
  return rho.dot(Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>(H).solve(rho));
}

}  // namespace

AsymmetricOracle::AsymmetricOracle(CsrView x, const Weights& weights, Regularizer which, double strength)
    : regularizer(which), lambda(strength) {
  const DenseOracle dense(x, weights, Eigen::VectorXd::Zero(x.cols));
  X = dense.X;
  W = dense.W;
}

double AsymmetricOracle::objective(const Eigen::MatrixXd& U, const Eigen::MatrixXd& V) const {
  const Eigen::MatrixXd error = X - X * U * V.transpose();
  double penalty = 0;
  if (regularizer == Regularizer::dropout) {
    penalty = (U * V.transpose()).squaredNorm();
  } else {
    penalty = (regularizer == Regularizer::weight_decay ? U : Eigen::MatrixXd(X * U)).squaredNorm() +
              V.squaredNorm();
  }
  return error.cwiseProduct(error).cwiseProduct(W).sum() + lambda * penalty;
}

Eigen::MatrixXd AsymmetricOracle::H_U(const Eigen::MatrixXd& V) const {
  const Eigen::MatrixXd VX = kronecker(V, X);
  Eigen::MatrixXd H = VX.transpose() * vec(W).asDiagonal() * VX;
  const Eigen::Index n = X.cols();
  const Eigen::Index d = V.cols();
  switch (regularizer) {
    case Regularizer::weight_decay:
      return H + lambda * identity(n * d);
    case Regularizer::dropout:
      return H + lambda * kronecker(V.transpose() * V, identity(n));
    case Regularizer::data_weight_decay:
      break;
  }
  return H + lambda * kronecker(identity(d), X.transpose() * X);
}

Eigen::VectorXd AsymmetricOracle::rhs_U(const Eigen::MatrixXd& V) const {
  return vec(X.transpose() * W.cwiseProduct(X) * V);
}

Eigen::MatrixXd AsymmetricOracle::H_V(const Eigen::MatrixXd& U) const {
  const Eigen::Index n = X.cols();
  const Eigen::MatrixXd XU = kronecker(X * U, identity(n));
  const Eigen::MatrixXd W_transposed = W.transpose();
  const Eigen::MatrixXd H = XU.transpose() * vec(W_transposed).asDiagonal() * XU;
  if (regularizer == Regularizer::dropout) return H + lambda * kronecker(U.transpose() * U, identity(n));
  return H + lambda * identity(n * U.cols());
}

Eigen::VectorXd AsymmetricOracle::rhs_V(const Eigen::MatrixXd& U) const {
  return vec(W.cwiseProduct(X).transpose() * X * U);
}

double AsymmetricOracle::U_gain(const Eigen::MatrixXd& U, const Eigen::MatrixXd& V) const {
  const Eigen::MatrixXd H = H_U(V);
  return gain(H, rhs_U(V) - H * vec(U));
}

double AsymmetricOracle::V_gain(const Eigen::MatrixXd& U, const Eigen::MatrixXd& V) const {
  const Eigen::MatrixXd H = H_V(U);
  return gain(H, rhs_V(U) - H * vec(V));
}

GeneralWeights::GeneralWeights(CsrView X, unsigned seed, bool with_a, bool with_b)
    : support(random_csr(X.rows, X.cols, 0.4, true, seed)) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> around(0.4F, 2.0F);
  std::uniform_real_distribution<float> weight(0.4F, 4.0F);
  std::vector<float> a(with_a ? X.rows : 0);
  std::vector<float> b(with_b ? X.cols : 0);
  for (float& value : a) value = around(generator);
  for (float& value : b) value = around(generator);
  for (std::int64_t u = 0; u < X.rows; ++u) {
    for (std::int64_t e = support.offsets[u]; e < support.offsets[u + 1]; ++e) {
      support.values[e] =
          weight(generator) * (with_a ? a[u] : 1.0F) * (with_b ? b[support.indices[e]] : 1.0F);
    }
  }
  W = weights_on_support(X, support.view(), a, b);
}

}  // namespace poise::testing
