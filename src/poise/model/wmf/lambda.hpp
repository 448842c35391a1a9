#pragma once

#include <cmath>
#include <cstdint>

namespace poise {

/// The regularization of weighted matrix factorization (Rendle et al. 2022): a row with `count` entries out
/// of `size` gets lambda (count + size / alpha)^exponent; with exponent 0 all rows get lambda. `alpha` is
/// that of the constant scheme, 1 for the linear and log ones.
struct WmfLambda {
  double lambda = 0;
  double exponent = 0;
  double alpha = 1;

  [[nodiscard]] double of(std::int64_t count, std::int64_t size) const {
    if (exponent == 0) return lambda;
    return lambda * std::pow(static_cast<double>(count) + static_cast<double>(size) / alpha, exponent);
  }
};

}  // namespace poise
