#pragma once

#include <cmath>

namespace poise {

/// The double nearest to the value in three decimal digits.
inline double three_digits(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 2);
  // Dividing by a whole power of ten gives the double nearest to the decimal number.
  return unit < 1 ? std::round(value / unit) / std::round(1 / unit) : std::round(value / unit) * unit;
}

}  // namespace poise
