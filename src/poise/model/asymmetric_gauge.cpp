#include "poise/model/asymmetric_gauge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <lapacke.h>

#include "poise/backend/cpu/serial_blas.hpp"
#include "poise/base/error.hpp"
#include "poise/model/spectrum_routes.hpp"
#include "poise/solver/factor_products.hpp"

namespace poise {
namespace {

/// Directions of a Gram matrix below this part of its largest are rounding of float32 factors.
constexpr double gram_cut_off = 1e-13;
constexpr double balance_cut_off = 1e-7;

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
EigenPairs nonnegative_pairs(Matrix<double> A) {
  EigenPairs pairs = symmetric_eigenpairs(std::move(A));
  for (double& s : pairs.s) s = std::max(0.0, s);
  return pairs;
}

/// With S = F diag(mu) F', mu > 0 on what is kept: F diag(sqrt(mu)) and F diag(1 / sqrt(mu)).
struct Roots {
  Matrix<double> root;
  Matrix<double> inverse;
};

Roots roots_of(Matrix<double> S) {
  const EigenPairs pairs = nonnegative_pairs(std::move(S));
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
    EigenPairs pairs = nonnegative_pairs(std::move(shared));
    return {pairs.Q, pairs.Q, std::move(pairs.s)};
  }
  const Roots roots = roots_of(std::move(metric));
  EigenPairs pairs = nonnegative_pairs(congruent(roots.inverse, shared, backend));
  return {product(roots.inverse, pairs.Q, backend), product(roots.root, pairs.Q, backend),
          std::move(pairs.s)};
}

}  // namespace

Matrix<double> product(const Matrix<double>& A, const Matrix<double>& B, Backend& backend) {
  Matrix<double> result(A.rows(), B.cols());
  backend.gemm(Op::none, Op::none, 1.0, A.view(), B.view(), 0.0, result.view());
  return result;
}

Gauge v_step_gauge(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend,
                   const Execution& execution) {
  const bool dropout = problem.dropout();
  return eigenbasis(point.Z_gram, dropout ? factor_gram(point.U.view(), {}, execution) : Matrix<double>(),
                    dropout, backend);
}

Gauge u_step_gauge(const AsymmetricProblem& problem, const Matrix<float>& V, Backend& backend,
                   const Execution& execution) {
  const bool dropout = problem.dropout();
  Gauge gauge =
      eigenbasis(factor_gram(V.view(), problem.W->b, execution),
                 dropout ? factor_gram(V.view(), {}, execution) : Matrix<double>(), dropout, backend);
  std::swap(gauge.T, gauge.T_dual);
  return gauge;
}

Gauge balancing_gauge(const Matrix<double>& K_gram, const Matrix<float>& V, double scale, Backend& backend,
                      const Execution& execution) {
  const Roots roots = roots_of(K_gram);
  const EigenPairs pairs =
      nonnegative_pairs(congruent(roots.root, factor_gram(V.view(), {}, execution), backend));
  Gauge gauge;
  std::vector<double> half;
  std::vector<double> inverse_half;
  for (const double square : pairs.s) {
    const double sigma = std::sqrt(square);
    if (sigma <= balance_cut_off * std::max(scale, std::sqrt(pairs.s[0]))) break;
    gauge.values.push_back(sigma);
    half.push_back(std::sqrt(sigma));
    inverse_half.push_back(1 / half.back());
  }
  gauge.T = product(roots.inverse, scaled(pairs.Q, half), backend);
  gauge.T_dual = product(roots.root, scaled(pairs.Q, inverse_half), backend);
  return gauge;
}

Matrix<float> changed(const Matrix<float>& A, const Matrix<double>& T, Backend& backend) {
  Matrix<float> narrow(T.rows(), T.cols());
  for (std::int64_t i = 0; i < T.rows(); ++i) {
    for (std::int64_t k = 0; k < T.cols(); ++k) narrow(i, k) = static_cast<float>(T(i, k));
  }
  Matrix<float> result(A.rows(), T.cols());
  backend.gemm(Op::none, Op::none, 1.0F, A.view(), narrow.view(), 0.0F, result.view());
  return result;
}

Matrix<double> nearest_rotation(Matrix<double> A, Backend& backend) {
  const std::int64_t d = A.rows();
  if (d == 0) return A;
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
