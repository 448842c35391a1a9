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

/// The orthogonal eigenbasis of `shared`, or, given a metric, the generalized one: T'(metric)T = I.
Gauge eigenbasis(Matrix<double> shared, const Matrix<double>& metric, Backend& backend) {
  if (metric.rows() == 0) {
    EigenPairs pairs = nonnegative_pairs(std::move(shared), backend);
    return {pairs.Q, pairs.Q, std::move(pairs.s)};
  }
  const Roots roots = roots_of(metric, gram_cut_off, backend);
  const Matrix<double> inverse = roots.inverse();
  EigenPairs pairs = nonnegative_pairs(congruent(inverse, shared, backend), backend);
  return {product(inverse, pairs.Q, backend), product(roots.root(), pairs.Q, backend), std::move(pairs.s)};
}

/// Of dropout; none where the regularization is a multiple of I.
Matrix<double> metric(const AsymmetricProblem& problem, In<float> factor, Backend& backend) {
  return problem.dropout() ? backend.factor_gram(factor, {}) : Matrix<double>();
}

}  // namespace

Gauge v_step_gauge(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend) {
  return eigenbasis(point.Z_gram, metric(problem, point.U.view(), backend), backend);
}

Gauge u_step_gauge(const AsymmetricProblem& problem, In<float> V, Backend& backend) {
  Gauge gauge = eigenbasis(backend.factor_gram(V, problem.W->b), metric(problem, V, backend), backend);
  std::swap(gauge.T, gauge.T_dual);
  return gauge;
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
