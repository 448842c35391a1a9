#include "poise/data/legacy_random.hpp"

#include <bit>
#include <numeric>
#include <utility>

namespace poise {

std::uint32_t LegacyRandom::interval(std::uint32_t max) {
  if (max == 0) return 0;  // NumPy draws nothing here
  const std::uint32_t mask = ~std::uint32_t{0} >> std::countl_zero(max);
  for (;;) {
    const auto value = static_cast<std::uint32_t>(engine_()) & mask;
    if (value <= max) return value;
  }
}

std::vector<std::int32_t> LegacyRandom::permutation(std::int32_t n) {
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (std::int32_t i = n - 1; i > 0; --i)
    std::swap(order[i], order[interval(static_cast<std::uint32_t>(i))]);
  return order;
}

std::vector<std::int32_t> LegacyRandom::choice(std::int32_t n, std::int32_t size) {
  std::vector<std::int32_t> order = permutation(n);
  order.resize(size);
  return order;
}

}  // namespace poise
