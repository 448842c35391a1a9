#include "poise/linalg/cholesky.hpp"

#include <cmath>
#include <cstring>

#include "poise/linalg/simd.hpp"

// Vectors are passed only between functions that are inlined, so no calling convention is at stake.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace poise::cholesky {
namespace {

constexpr std::int64_t lane = 8;
constexpr std::int64_t rows_at_once = 4;
using Lane [[gnu::vector_size(lane * sizeof(double))]] = double;

POISE_INLINE Lane load(const double* from) {
  Lane values;
  std::memcpy(&values, from, sizeof values);
  return values;
}
POISE_INLINE void store(double* to, const Lane& values) { std::memcpy(to, &values, sizeof values); }

/// Rows [q, q + rows) less what the rows above contribute to `lanes` lanes of columns from c on.
template <std::int64_t rows, std::int64_t lanes>
POISE_INLINE void subtract_above(double* U, std::int64_t stride, std::int64_t q, std::int64_t c) {
  Lane sums[rows][lanes];
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t t = 0; t < lanes; ++t) sums[r][t] = load(U + (q + r) * stride + c + t * lane);
  }
  for (std::int64_t s = 0; s < q; ++s) {
    const double* const above = U + s * stride;
    Lane x[lanes];
    for (std::int64_t t = 0; t < lanes; ++t) x[t] = load(above + c + t * lane);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t t = 0; t < lanes; ++t) sums[r][t] -= above[q + r] * x[t];
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t t = 0; t < lanes; ++t) store(U + (q + r) * stride + c + t * lane, sums[r][t]);
  }
}

template <std::int64_t rows>
POISE_INLINE void subtract_all_above(double* U, std::int64_t stride, std::int64_t q) {
  std::int64_t c = q / lane * lane;
  for (; c + 2 * lane <= stride; c += 2 * lane) subtract_above<rows, 2>(U, stride, q, c);
  if (c < stride) subtract_above<rows, 1>(U, stride, q, c);
}

/// Rows [first, last) among themselves.
POISE_INLINE bool finish_rows(double* U, std::int64_t stride, std::int64_t first, std::int64_t last) {
  for (std::int64_t q = first; q < last; ++q) {
    double* const row = U + q * stride;
    const std::int64_t begin = first / lane * lane;
    for (std::int64_t s = first; s < q; ++s) {
      const double* const above = U + s * stride;
      const double factor = above[q];
      for (std::int64_t c = begin; c < stride; c += lane)
        store(row + c, load(row + c) - factor * load(above + c));
    }
    if (!(row[q] > 0)) return false;
    const double inverse = 1 / std::sqrt(row[q]);
    for (std::int64_t c = begin; c < stride; c += lane) store(row + c, load(row + c) * inverse);
  }
  return true;
}

POISE_INLINE bool factor_rows(double* U, std::int64_t k, std::int64_t stride) {
  std::int64_t q = 0;
  for (; q + rows_at_once <= k; q += rows_at_once) {
    subtract_all_above<rows_at_once>(U, stride, q);
    if (!finish_rows(U, stride, q, q + rows_at_once)) return false;
  }
  for (; q < k; ++q) {
    subtract_all_above<1>(U, stride, q);
    if (!finish_rows(U, stride, q, q + 1)) return false;
  }
  return true;
}

/// sum of x_c y_c over [first, last), in eight interleaved sums.
POISE_INLINE double dot_between(const double* x, const double* y, std::int64_t first, std::int64_t last) {
  Lane sums = {};
  for (; first + lane <= last; first += lane) sums += load(x + first) * load(y + first);
  double rest = 0;
  for (; first < last; ++first) rest += x[first] * y[first];
  return (((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))) + rest;
}

/// y_c += f x_c over [first, last).
POISE_INLINE void add_between(double f, const double* x, double* y, std::int64_t first, std::int64_t last) {
  for (; first + lane <= last; first += lane) store(y + first, load(y + first) + f * load(x + first));
  for (; first < last; ++first) y[first] += f * x[first];
}

POISE_INLINE void solve_transposed_rows(const double* U, std::int64_t stride, double* x, std::int64_t k) {
  for (std::int64_t s = 0; s < k; ++s) {
    x[s] /= U[s * stride + s];
    add_between(-x[s], U + s * stride, x, s + 1, k);
  }
}

POISE_INLINE void solve_rows(const double* U, std::int64_t stride, double* x, std::int64_t k) {
  for (std::int64_t q = k - 1; q >= 0; --q)
    x[q] = (x[q] - dot_between(U + q * stride, x, q + 1, k)) / U[q * stride + q];
}

POISE_INLINE void multiply_rows(const double* H, std::int64_t stride, const double* x, double* y,
                                std::int64_t k) {
  for (std::int64_t q = 0; q < k; ++q) y[q] = 0;
  for (std::int64_t q = 0; q < k; ++q) {
    const double* const row = H + q * stride;
    y[q] += dot_between(row, x, q, k);
    add_between(x[q], row, y, q + 1, k);
  }
}

}  // namespace

bool factor(MatrixView<double> H) {
  static const auto version = simd::version<factor_rows>();
  return version(H.data, H.rows, H.stride);
}

void solve_transposed(MatrixView<const double> U, std::span<double> x) {
  static const auto version = simd::version<solve_transposed_rows>();
  version(U.data, U.stride, x.data(), std::ssize(x));
}

void solve(MatrixView<const double> U, std::span<double> x) {
  static const auto version = simd::version<solve_rows>();
  version(U.data, U.stride, x.data(), std::ssize(x));
}

void multiply(MatrixView<const double> H, std::span<const double> x, std::span<double> y) {
  static const auto version = simd::version<multiply_rows>();
  version(H.data, H.stride, x.data(), y.data(), std::ssize(x));
}

}  // namespace poise::cholesky
