#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace poise {

/// The draws of NumPy's legacy `RandomState(seed)` (MT19937), number for number, so that published splits
/// come out identical.
class LegacyRandom {
 public:
  explicit LegacyRandom(std::uint32_t seed) : engine_(seed) {}

  /// RandomState.permutation(n): 0, ..., n - 1 shuffled.
  std::vector<std::int32_t> permutation(std::int32_t n);
  /// RandomState.choice(n, size, replace=False).
  std::vector<std::int32_t> choice(std::int32_t n, std::int32_t size);

 private:
  /// Uniform on 0, ..., max by masked rejection.
  std::uint32_t interval(std::uint32_t max);

  std::mt19937 engine_;
};

}  // namespace poise
