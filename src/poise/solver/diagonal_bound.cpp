#include "poise/solver/diagonal_bound.hpp"

#include <algorithm>
#include <cmath>

#include <lapacke.h>

#include "poise/solver/probes.hpp"

namespace poise {

namespace {

/// F (n x basis) with N = F F'; no columns if there is no basis.
Matrix<double> nystrom_factor(const Matrix<double>& z, const Matrix<double>& Kz, std::int64_t basis) {
  constexpr double jitter = 1e-9;  // of the largest eigenvalue: smaller ones are rounding
  const std::int64_t n = z.rows();
  Matrix<double> C(basis, basis);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t p = 0; p < basis; ++p) {
      for (std::int64_t q = 0; q <= p; ++q) C(p, q) += (z(i, p) * Kz(i, q) + z(i, q) * Kz(i, p)) / 2;
    }
  }
  double largest = 0;
  for (std::int64_t p = 0; p < basis; ++p) largest = std::max(largest, C(p, p));
  for (std::int64_t p = 0; p < basis; ++p) C(p, p) += jitter * largest;
  const auto order = static_cast<lapack_int>(basis);
  if (!(largest > 0) || LAPACKE_dpotrf_work(LAPACK_ROW_MAJOR, 'L', order, C.view().data, order) != 0)
    return {};
  Matrix<double> F(n, basis);  // row i: L^-1 (Kz)_i
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t p = 0; p < basis; ++p) {
      double rest = Kz(i, p);
      for (std::int64_t q = 0; q < p; ++q) rest -= C(p, q) * F(i, q);
      F(i, p) = rest / C(p, p);
    }
  }
  return F;
}

}  // namespace

std::vector<double> bound_diagonal(const Matrix<double>& z, const Matrix<double>& Kz, double remainder,
                                   std::int64_t basis, double doubt) {
  const std::int64_t n = z.rows();
  const std::int64_t probes = z.cols() - basis;
  const Matrix<double> F = nystrom_factor(z, Kz, basis);
  Matrix<double> Fz(F.cols(), probes);  // F'z
  for (std::int64_t i = 0; i < F.rows(); ++i) {
    for (std::int64_t k = 0; k < F.cols(); ++k) {
      for (std::int64_t p = 0; p < probes; ++p) Fz(k, p) += F(i, k) * z(i, basis + p);
    }
  }
  const double least = 1 / std::sqrt(probe_factor(probes, doubt / static_cast<double>(n)));
  std::vector<double> bounds(n);
  for (std::int64_t i = 0; i < n; ++i) {
    double N_ii = 0;
    for (std::int64_t k = 0; k < F.cols(); ++k) N_ii += F(i, k) * F(i, k);
    double squares = 0;
    for (std::int64_t p = 0; p < probes; ++p) {
      double entry = Kz(i, basis + p);
      for (std::int64_t k = 0; k < F.cols(); ++k) entry -= F(i, k) * Fz(k, p);
      squares += entry * entry;
    }
    // least (x^2 - N_ii) <= |Ez| + remainder x for x = sqrt(K_ii).
    const double known = std::sqrt(squares) + least * N_ii;
    const double root = (remainder + std::sqrt(remainder * remainder + 4 * least * known)) / (2 * least);
    bounds[i] = root * root;
  }
  return bounds;
}

}  // namespace poise
