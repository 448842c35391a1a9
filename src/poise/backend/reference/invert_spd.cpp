#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "poise/backend/reference/reference_backend.hpp"

namespace poise {
namespace {

using Wide = long double;  // an oracle for float64, too

/// The largest eigenvalue of a symmetric positive definite matrix, by power iteration to convergence.
Wide largest_eigenvalue(const Matrix<Wide>& a) {
  constexpr int steps = 1000;
  const std::int64_t n = a.rows();
  std::vector<Wide> x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = 1 + Wide(i % 7) / 7;
  Wide value = 0;
  for (int step = 0; step < steps; ++step) {
    std::vector<Wide> y(n, 0);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) y[i] += a(i, j) * x[j];
    }
    Wide squares = 0;
    for (const Wide entry : y) squares += entry * entry;
    const Wide norm = std::sqrt(squares);
    if (!(norm > 0)) return norm;
    for (std::int64_t i = 0; i < n; ++i) x[i] = y[i] / norm;
    if (step > 0 && std::abs(norm - value) <= Wide(1e-6) * norm) return norm;
    value = norm;
  }
  return value;
}

/// A = L L' in the lower triangle; false where a pivot is not positive.
bool factor(Matrix<Wide>& a) {
  for (std::int64_t j = 0; j < a.rows(); ++j) {
    for (std::int64_t i = j; i < a.rows(); ++i) {
      Wide rest = a(i, j);
      for (std::int64_t k = 0; k < j; ++k) rest -= a(i, k) * a(j, k);
      if (i == j && !(rest > 0)) return false;
      a(i, j) = i == j ? std::sqrt(rest) : rest / a(j, j);
    }
  }
  return true;
}

/// x <- (L L')^-1 x.
void solve(const Matrix<Wide>& factor, std::span<Wide> x) {
  const std::int64_t n = factor.rows();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < i; ++k) x[i] -= factor(i, k) * x[k];
    x[i] /= factor(i, i);
  }
  for (std::int64_t i = n - 1; i >= 0; --i) {
    for (std::int64_t k = i + 1; k < n; ++k) x[i] -= factor(k, i) * x[k];
    x[i] /= factor(i, i);
  }
}

template <class T>
SpdInverse plain_inverse(MatrixView<T> a) {
  assert(a.rows == a.cols);
  const std::int64_t n = a.rows;
  Matrix<Wide> given(n, n);
  for (std::int64_t i = 0; i < n; ++i) std::copy_n(a.row(i).begin(), n, given.row(i).begin());
  const Wide norm = largest_eigenvalue(given);
  if (!std::isfinite(norm) || !factor(given)) return {};
  Matrix<Wide> inverse(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    inverse(i, i) = 1;
    solve(given, inverse.row(i));
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) a(i, j) = a(j, i) = static_cast<T>(inverse(i, j));
  }
  for (std::int64_t i = 0; i < n; ++i) std::copy_n(a.row(i).begin(), n, inverse.row(i).begin());
  const auto condition = static_cast<double>(norm * largest_eigenvalue(inverse));
  return {.positive_definite = std::isfinite(condition), .condition = condition};
}

}  // namespace

SpdInverse ReferenceBackend::invert_spd(Out<float> a) { return plain_inverse(a.host()); }
SpdInverse ReferenceBackend::invert_spd(Out<double> a) { return plain_inverse(a.host()); }

}  // namespace poise
