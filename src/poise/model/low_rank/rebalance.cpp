#include "poise/model/low_rank/rebalance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "poise/linalg/precision.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {
namespace {

/// Eigenpairs of the Gram matrix of a U that may stand in its eigenbasis already.
EigenPairs pairs_of(const Matrix<double>& gram, Backend& backend) {
  std::vector<double> s;
  for (std::int64_t j = 0; j < gram.rows(); ++j) {
    for (std::int64_t k = 0; k < gram.cols(); ++k) {
      if (j != k && gram(j, k) != 0) return backend.symmetric_eigenpairs(gram);
    }
    s.push_back(gram(j, j));
  }
  if (!std::ranges::is_sorted(s, std::greater<>())) return backend.symmetric_eigenpairs(gram);
  return {std::move(s), identity(gram.rows())};
}

}  // namespace

// With U'U = E diag(r^2) E' and K = diag(r) E' V'V E diag(r) = F S^2 F', the left singular vectors drop out:
// A_u = E diag(1/r) F sqrt(S), A_v = E diag(r) F / sqrt(S). So A_u A_v' = I, however inexact the
// eigenvectors are.
Rebalanced rebalance(const Matrix<double>& U_gram, const Matrix<double>& V_gram, Backend& backend) {
  const std::int64_t d = U_gram.rows();
  const EigenPairs of_U = pairs_of(U_gram, backend);
  std::vector<double> r(d, 0.0);
  for (std::int64_t k = 0; k < d; ++k) {
    const double root = std::sqrt(std::max(0.0, of_U.s[k]));
    if (root > factor_noise * std::sqrt(std::max(0.0, of_U.s[0]))) r[k] = root;
  }
  Matrix<double> K = product(transposed(of_U.Q), product(V_gram, of_U.Q, backend), backend);
  for (std::int64_t j = 0; j < d; ++j) {
    for (std::int64_t k = 0; k < d; ++k) K(j, k) *= r[j] * r[k];
  }
  for (std::int64_t j = 0; j < d; ++j) {
    for (std::int64_t k = 0; k < j; ++k) K(j, k) = K(k, j) = (K(j, k) + K(k, j)) / 2;
  }
  const EigenPairs of_K = backend.symmetric_eigenpairs(std::move(K));
  Matrix<double> left(d, d);
  Matrix<double> right(d, d);
  double after = 0;
  double before = 0;
  for (std::int64_t k = 0; k < d; ++k) {
    before += U_gram(k, k) + V_gram(k, k);
    const double s = std::sqrt(std::max(0.0, of_K.s[k]));
    if (!(s > product_noise * std::sqrt(std::max(0.0, of_K.s[0])))) continue;
    after += 2 * s;
    for (std::int64_t j = 0; j < d; ++j) {
      if (r[j] == 0) continue;
      left(j, k) = of_K.Q(j, k) * std::sqrt(s) / r[j];
      right(j, k) = of_K.Q(j, k) * r[j] / std::sqrt(s);
    }
  }
  return {product(of_U.Q, left, backend), product(of_U.Q, right, backend), std::min(0.0, after - before)};
}

}  // namespace poise
