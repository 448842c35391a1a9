#include "poise/model/asymmetric/gauge.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <lapacke.h>

#include "poise/base/error.hpp"
#include "poise/linalg/precision.hpp"
#include "poise/linalg/serial_blas.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {
namespace {

/// F diag(scale): the leading columns of F, as many as there are scales.
Matrix<double> scaled(const Matrix<double>& F, const std::vector<double>& scale) {
  Matrix<double> result(F.rows(), static_cast<std::int64_t>(scale.size()));
  for (std::int64_t i = 0; i < result.rows(); ++i) {
    for (std::int64_t k = 0; k < result.cols(); ++k) result(i, k) = F(i, k) * scale[k];
  }
  return result;
}

/// A'B A for symmetric B.
Matrix<double> congruent(const Matrix<double>& A, const Matrix<double>& B, Backend& backend) {
  const Matrix<double> BA = product(B, A, backend);
  Matrix<double> result(A.cols(), A.cols());
  backend.gemm(Op::transpose, Op::none, 1.0, A.view(), BA.view(), 0.0, result.view());
  return result;
}

/// Eigenvalues, none below 0.
EigenPairs nonnegative_pairs(Matrix<double> A, Backend& backend) {
  EigenPairs pairs = backend.symmetric_eigenpairs(std::move(A));
  for (double& s : pairs.s) s = std::max(0.0, s);
  return pairs;
}

/// With S = F diag(mu) F', mu > 0 on what is kept: F diag(sqrt(mu)) and F diag(1 / sqrt(mu)).
struct Roots {
  Matrix<double> root;
  Matrix<double> inverse;
};

Roots roots_of(Matrix<double> S, Backend& backend) {
  const EigenPairs pairs = nonnegative_pairs(std::move(S), backend);
  std::vector<double> root;
  std::vector<double> inverse;
  for (const double mu : pairs.s) {
    if (mu <= gram_cut_off * pairs.s[0]) break;
    root.push_back(std::sqrt(mu));
    inverse.push_back(1 / root.back());
  }
  return {scaled(pairs.Q, root), scaled(pairs.Q, inverse)};
}

/// The orthogonal eigenbasis of `shared`, or, given the metric, the generalized one: T'(metric)T = I.
Gauge eigenbasis(Matrix<double> shared, Matrix<double> metric, bool generalized, Backend& backend) {
  if (!generalized) {
    EigenPairs pairs = nonnegative_pairs(std::move(shared), backend);
    return {pairs.Q, pairs.Q, std::move(pairs.s)};
  }
  const Roots roots = roots_of(std::move(metric), backend);
  EigenPairs pairs = nonnegative_pairs(congruent(roots.inverse, shared, backend), backend);
  return {product(roots.inverse, pairs.Q, backend), product(roots.root, pairs.Q, backend),
          std::move(pairs.s)};
}

}  // namespace

Gauge v_step_gauge(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend) {
  const bool dropout = problem.dropout();
  return eigenbasis(point.Z_gram, dropout ? backend.factor_gram(point.U.view(), {}) : Matrix<double>(),
                    dropout, backend);
}

Gauge u_step_gauge(const AsymmetricProblem& problem, MatrixView<const float> V, Backend& backend) {
  const bool dropout = problem.dropout();
  Gauge gauge = eigenbasis(backend.factor_gram(V, problem.W->b),
                           dropout ? backend.factor_gram(V, {}) : Matrix<double>(), dropout, backend);
  std::swap(gauge.T, gauge.T_dual);
  return gauge;
}

Gauge balancing_gauge(const Matrix<double>& K_gram, MatrixView<const float> V, double scale,
                      Backend& backend) {
  const Roots roots = roots_of(K_gram, backend);
  const EigenPairs pairs =
      nonnegative_pairs(congruent(roots.root, backend.factor_gram(V, {}), backend), backend);
  Gauge gauge;
  std::vector<double> half;
  std::vector<double> inverse_half;
  for (const double square : pairs.s) {
    const double sigma = std::sqrt(square);
    if (sigma <= product_noise * std::max(scale, std::sqrt(pairs.s[0]))) break;
    gauge.values.push_back(sigma);
    half.push_back(std::sqrt(sigma));
    inverse_half.push_back(1 / half.back());
  }
  gauge.T = product(roots.inverse, scaled(pairs.Q, half), backend);
  gauge.T_dual = product(roots.root, scaled(pairs.Q, inverse_half), backend);
  return gauge;
}

Resident<float> changed(MatrixView<const float> A, const Matrix<double>& T, Backend& backend) {
  Resident<float> result(backend, A.rows, T.cols());
  if (T.cols() > 0) backend.combine_rows(A, T, result.view(), {});
  return result;
}

bool rotate_by_newton(Matrix<double>& A, Backend& backend) {
  constexpr int most_steps = 60;
  const std::int64_t d = A.rows();
  std::vector<double> squares(d);
  Resident<double> X(backend, A.view());
  Resident<double> next(backend, d, d);
  Resident<double> deviation(backend, d, d);
  const Resident<double> one(backend, identity(d));
  const auto square_of = [&](const Resident<double>& matrix) {
    backend.row_dots(matrix.view(), matrix.view(), squares);
    return std::accumulate(squares.begin(), squares.end(), 0.0);
  };
  const double norm = std::sqrt(square_of(X));
  if (!(norm > 0) || !std::isfinite(norm)) return false;
  backend.combine(std::vector<Term<double>>{{.x = X.view(), .scale = 1 / norm}}, X.view());
  for (int step = 0; step < most_steps; ++step) {
    backend.copy(one.view(), deviation.view());
    backend.gemm(Op::transpose, Op::none, 1.0, X.view(), X.view(), -1.0, deviation.view());
    if (square_of(deviation) <= 1e-26 * static_cast<double>(d * d)) {
      A = X.take();
      return true;
    }
    backend.copy(X.view(), next.view());
    backend.gemm(Op::none, Op::none, -0.5, X.view(), deviation.view(), 1.0, next.view());
    std::swap(X, next);
  }
  return false;
}

Matrix<double> nearest_rotation(Matrix<double> A, Backend& backend) {
  const std::int64_t d = A.rows();
  if (d == 0) return A;
  if (!backend.traits().cheap_decompositions && rotate_by_newton(A, backend)) return A;
  const SerialBlas serial;
  const auto size = static_cast<lapack_int>(d);
  std::vector<double> values(d);
  Matrix<double> left(d, d);
  Matrix<double> right(d, d);
  // Row-major A is A' to LAPACK: the factors trade places.
  const lapack_int status = LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'A', size, size, A.view().data, size,
                                           values.data(), right.view().data, size, left.view().data, size);
  if (status != 0)
    fail(ErrorKind::numerical, "a {} x {} singular value decomposition failed (LAPACK says {})", d, d,
         status);
  return product(left, right, backend);
}

}  // namespace poise
