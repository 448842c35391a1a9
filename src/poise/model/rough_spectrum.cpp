#include "poise/model/rough_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "poise/model/spectrum_routes.hpp"
#include "poise/solver/factor_products.hpp"

namespace poise {
namespace {

/// Directions this small next to the largest are rounding noise.
constexpr double noise = 1e-7;

}  // namespace

Spectrum rough_spectrum(CsrView X, std::int64_t count, int steps, Backend& backend,
                        const Execution& execution) {
  X.values = {};
  count = std::min({count, X.rows, X.cols});
  const Csr transposed = transpose(X);
  Spectrum spectrum{std::vector<double>(count, 0.0), Matrix<float>(X.cols, count)};
  std::mt19937_64 random(20'108);
  const float scale = 1 / std::sqrt(static_cast<float>(X.cols) / 3);
  for (std::int64_t i = 0; i < X.cols; ++i) {
    for (float& value : spectrum.Q.row(i))
      value = scale * (static_cast<float>(random() >> 40) * 0x1p-23F - 1);
  }
  Matrix<float> image(X.rows, count);
  for (int step = 0; step < steps; ++step) {
    backend.spmm(X, spectrum.Q.view(), image.view());
    backend.spmm(transposed.view(), image.view(), spectrum.Q.view());
    const EigenPairs eigen = symmetric_eigenpairs(factor_gram(spectrum.Q.view(), {}, execution));
    Matrix<double> to_orthonormal(count, count);
    for (std::int64_t k = 0; k < count; ++k) {
      const double size = std::sqrt(std::max(0.0, eigen.s[k]));
      const bool live = size > noise * std::sqrt(std::max(0.0, eigen.s[0]));
      spectrum.s[k] = live ? size : 0.0;
      for (std::int64_t j = 0; j < count && live; ++j) to_orthonormal(j, k) = eigen.Q(j, k) / size;
    }
    multiply_rows(spectrum.Q.view(), to_orthonormal, execution);
  }
  return spectrum;
}

}  // namespace poise
