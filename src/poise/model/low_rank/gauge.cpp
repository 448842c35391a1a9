#include "poise/model/low_rank/gauge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "poise/linalg/precision.hpp"
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

std::vector<double> inverse_of(std::vector<double> values) {
  for (double& value : values) value = 1 / value;
  return values;
}

}  // namespace

Matrix<double> congruent(const Matrix<double>& A, const Matrix<double>& B, Backend& backend) {
  return times(Op::transpose, Lent(backend, A).view(), product(B, A, backend), backend);
}

EigenPairs nonnegative_pairs(Matrix<double> A, Backend& backend) {
  EigenPairs pairs = backend.symmetric_eigenpairs(std::move(A));
  for (double& s : pairs.s) s = std::max(0.0, s);
  return pairs;
}

Matrix<double> Roots::root() const { return scaled(F, r); }
Matrix<double> Roots::inverse() const { return scaled(F, inverse_of(r)); }

Roots roots_of(const Matrix<double>& S, double cut_off, Backend& backend) {
  EigenPairs pairs = nonnegative_pairs(S, backend);
  Roots roots{std::move(pairs.Q), {}};
  for (const double mu : pairs.s) {
    if (mu <= cut_off * pairs.s[0]) break;
    roots.r.push_back(std::sqrt(mu));
  }
  return roots;
}

Gauge balancing_gauge(const Roots& of_U, const Matrix<double>& V_gram, double scale, Backend& backend) {
  const std::vector<double>& r = of_U.r;
  const std::int64_t d = V_gram.rows();
  const bool diagonal = of_U.F.rows() == 0;
  Matrix<double> K = diagonal ? V_gram : congruent(of_U.root(), V_gram, backend);
  for (std::int64_t j = 0; diagonal && j < d; ++j) {
    for (std::int64_t k = 0; k < d; ++k) K(j, k) *= r[j] * r[k];
  }
  const EigenPairs pairs = nonnegative_pairs(std::move(K), backend);
  Gauge gauge;
  std::vector<double> half;
  for (const double square : pairs.s) {
    const double sigma = std::sqrt(square);
    if (sigma <= product_noise * std::max(scale, std::sqrt(pairs.s[0]))) break;
    gauge.values.push_back(sigma);
    half.push_back(std::sqrt(sigma));
  }
  if (!diagonal) {
    gauge.T = product(of_U.inverse(), scaled(pairs.Q, half), backend);
    gauge.T_dual = product(of_U.root(), scaled(pairs.Q, inverse_of(half)), backend);
    return gauge;
  }
  gauge.T = gauge.T_dual = Matrix<double>(d, std::ssize(half));
  for (std::int64_t j = 0; j < d; ++j) {
    for (std::int64_t k = 0; k < gauge.T.cols() && r[j] > 0; ++k) {
      gauge.T(j, k) = pairs.Q(j, k) * half[k] / r[j];
      gauge.T_dual(j, k) = pairs.Q(j, k) * r[j] / half[k];
    }
  }
  return gauge;
}

Resident<float> changed(In<float> A, const Matrix<double>& T, Backend& backend) {
  Resident<float> result(backend, A.rows, T.cols());
  if (T.cols() > 0) backend.combine_rows(A, T, result.view(), {});
  return result;
}

}  // namespace poise
