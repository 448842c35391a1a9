#include <algorithm>
#include <vector>

#include "poise/backend/reference/reference_backend.hpp"

namespace poise {

double ReferenceBackend::triple_dot(std::span<const float> c, std::span<const float> x,
                                    std::span<const float> y) {
  const auto at = [](std::span<const float> values, std::size_t e) {
    return values.empty() ? 1.0 : static_cast<double>(values[e]);
  };
  double sum = 0;
  for (std::size_t e = 0; e < std::max({c.size(), x.size(), y.size()}); ++e)
    sum += at(c, e) * at(x, e) * at(y, e);
  return sum;
}

Matrix<double> ReferenceBackend::factor_gram(In<float> z, std::span<const float> a) {
  return factor_product(z, a, z);
}

Matrix<double> ReferenceBackend::factor_product(In<float> y, std::span<const float> a, In<float> z) {
  Matrix<double> result(y.cols, z.cols);
  for (std::int64_t j = 0; j < y.cols; ++j) {
    for (std::int64_t k = 0; k < z.cols; ++k) {
      for (std::int64_t r = 0; r < y.rows; ++r) {
        // y z first, so that the Gram matrix is symmetric to the last bit.
        result(j, k) += static_cast<double>(y.host()(r, j)) * z.host()(r, k) * (a.empty() ? 1.0 : a[r]);
      }
    }
  }
  return result;
}

void ReferenceBackend::combine_rows(In<float> z, const Matrix<double>& a, Out<float> y,
                                    const Matrix<double>& b) {
  for (std::int64_t r = 0; r < y.rows; ++r) {
    std::vector<double> sums(y.cols);
    for (std::int64_t k = 0; k < y.cols; ++k) {
      for (std::int64_t j = 0; j < a.rows(); ++j) sums[k] += z.host()(r, j) * a(j, k);
      for (std::int64_t j = 0; j < b.rows(); ++j) sums[k] += y.host()(r, j) * b(j, k);
    }
    for (std::int64_t k = 0; k < y.cols; ++k) y.host()(r, k) = static_cast<float>(sums[k]);
  }
}

void ReferenceBackend::divide_by_products(Out<float> x, Numbers s, Numbers t, double shift) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t j = 0; j < x.cols; ++j) {
      const double divisor = s[i] * t[j] + shift;
      x.host()(i, j) = divisor > 0 ? static_cast<float>(x.host()(i, j) / divisor) : 0.0F;
    }
  }
}

}  // namespace poise
