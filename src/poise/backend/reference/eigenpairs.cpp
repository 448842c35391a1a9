#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "poise/backend/reference/reference_backend.hpp"
#include "poise/base/error.hpp"

namespace poise {
namespace {

/// Rows and columns p and q of the symmetric a are rotated so that a(p, q) becomes 0 (Jacobi), and the
/// columns of Q with them.
void rotate(Matrix<double>& a, Matrix<double>& Q, std::int64_t p, std::int64_t q) {
  const double half_turn = (a(q, q) - a(p, p)) / (2 * a(p, q));
  const double t = (half_turn < 0 ? -1 : 1) / (std::abs(half_turn) + std::sqrt(half_turn * half_turn + 1));
  const double c = 1 / std::sqrt(t * t + 1);
  const double s = t * c;
  for (std::int64_t k = 0; k < a.rows(); ++k) {
    const double at_p = a(k, p);
    const double at_q = a(k, q);
    a(k, p) = c * at_p - s * at_q;
    a(k, q) = s * at_p + c * at_q;
  }
  for (std::int64_t k = 0; k < a.rows(); ++k) {
    const double at_p = a(p, k);
    const double at_q = a(q, k);
    a(p, k) = c * at_p - s * at_q;
    a(q, k) = s * at_p + c * at_q;
    const double of_p = Q(k, p);
    const double of_q = Q(k, q);
    Q(k, p) = c * of_p - s * of_q;
    Q(k, q) = s * of_p + c * of_q;
  }
}

template <class T>
EigenPairs jacobi(MatrixView<T> given, std::int64_t count) {
  constexpr int most_sweeps = 60;
  const std::int64_t n = given.rows;
  Matrix<double> a(n, n);
  Matrix<double> Q(n, n);
  double size = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    Q(i, i) = 1;
    for (std::int64_t j = i; j < n; ++j) {
      a(i, j) = a(j, i) = given(i, j);
      size += a(i, j) * a(i, j);
    }
  }
  const auto off_diagonal = [&] {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < i; ++j) sum += a(i, j) * a(i, j);
    }
    return sum;
  };
  int sweep = 0;
  for (; !(off_diagonal() <= 1e-30 * size); ++sweep) {
    if (sweep == most_sweeps)
      fail(ErrorKind::numerical, "eigenpairs of a {} x {} matrix did not converge", n, n);
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        if (a(p, q) != 0) rotate(a, Q, p, q);
      }
    }
  }
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int64_t i, std::int64_t j) { return a(i, i) > a(j, j); });
  EigenPairs pairs{{}, Matrix<double>(n, count)};
  for (std::int64_t k = 0; k < count; ++k) {
    pairs.s.push_back(a(order[k], order[k]));
    for (std::int64_t i = 0; i < n; ++i) pairs.Q(i, k) = Q(i, order[k]);
  }
  return pairs;
}

}  // namespace

EigenPairs ReferenceBackend::symmetric_eigenpairs(Out<double> a, std::int64_t count) {
  return jacobi(a.host(), count);
}
EigenPairs ReferenceBackend::symmetric_eigenpairs(Out<float> a, std::int64_t count) {
  return jacobi(a.host(), count);
}

}  // namespace poise
