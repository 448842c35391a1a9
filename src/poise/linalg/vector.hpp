#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace poise {

/// x'y, added up in float64 in eight interleaved sums: a fixed order that the compiler can vectorize.
template <class T, class U>
double dot(std::span<const T> x, std::span<const U> y) {
  constexpr std::size_t lanes = 8;
  double sums[lanes] = {};
  std::size_t k = 0;
  for (; k + lanes <= x.size(); k += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      sums[lane] += static_cast<double>(x[k + lane]) * static_cast<double>(y[k + lane]);
    }
  }
  for (; k < x.size(); ++k) sums[0] += static_cast<double>(x[k]) * static_cast<double>(y[k]);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// first, first + 1, ...
inline std::vector<std::int32_t> numbers_from(std::int64_t first, std::int64_t count) {
  std::vector<std::int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), static_cast<std::int32_t>(first));
  return numbers;
}

/// The sum, from the first to the last.
inline double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// y += alpha x.
template <class T>
void add_scaled(T alpha, std::span<const T> x, std::span<T> y) {
  for (std::size_t k = 0; k < x.size(); ++k) y[k] += alpha * x[k];
}

}  // namespace poise
