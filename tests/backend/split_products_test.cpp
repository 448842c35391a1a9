#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "poise/backend/resident.hpp"

#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

/// `value` times a power of two between 2^-range and 2^range, by `step`.
float spread(float value, std::int64_t step, int range) {
  return std::ldexp(value, static_cast<int>(step % (2 * range)) - range);
}

/// At a size at which a GPU splits its operands: rows and columns of any scale, entries of all magnitudes.
TEST(SplitProducts, AreAsExactAsFloat32) {
  constexpr std::int64_t n = 1050;
  constexpr std::int64_t rows = 70;
  const std::unique_ptr<Backend> backend = testing::tested_backend(2);
  EXPECT_EQ(backend->splits_products(n), testing::tested_kind() == BackendKind::cuda);
  Matrix<float> r = testing::random_matrix<float>(rows, n, 1);
  Matrix<float> a = testing::random_matrix<float>(n, n, 2);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < n; ++k) r(i, k) = spread(spread(r(i, k), 17 * i, 40), 13 * k, 20);
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) a(i, j) = a(j, i) = spread(spread(a(i, j), 7 * i, 15), 7 * j, 15);
  }
  constexpr std::int64_t zero_row = 3;
  constexpr std::int64_t nan_row = 4;
  constexpr std::int64_t infinite_row = 6;
  constexpr std::int64_t zero_item = 5;
  std::ranges::fill(r.row(zero_row), 0.0F);
  r(nan_row, 9) = std::numeric_limits<float>::quiet_NaN();
  r(infinite_row, 9) = std::numeric_limits<float>::infinity();
  for (std::int64_t j = 0; j < n; ++j) a(zero_item, j) = a(j, zero_item) = 0;

  const Resident<float> left(*backend, std::as_const(r).view());
  const Resident<float> symmetric(*backend, std::as_const(a).view());
  Resident<float> product(*backend, rows, n);
  backend->multiply_symmetric(left.view(), symmetric.view(), product.view());
  const Matrix<float> resident = product.home();

  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (i == nan_row || i == infinite_row) {
        ASSERT_FALSE(std::isfinite(resident(i, j))) << i << ", " << j;
        continue;
      }
      double sum = 0;
      double size = 0;
      for (std::int64_t k = 0; k < n; ++k) {
        sum += double{r(i, k)} * double{a(k, j)};
        size += std::abs(double{r(i, k)} * double{a(k, j)});
      }
      ASSERT_NEAR(resident(i, j), sum, 2e-6 * size) << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace poise
