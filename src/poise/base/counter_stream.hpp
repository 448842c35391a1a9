#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace poise {

/// A random stream that depends on (seed, purpose, index) alone: draw k is a hash of the key and k
/// (SplitMix64). So user 7 draws the same numbers on any thread, and before or after user 8. The
/// distributions are implemented here because the standard library's differ between vendors.
class CounterStream {
 public:
  CounterStream(std::uint64_t seed, std::uint64_t purpose, std::uint64_t index)
      : state_(mix(mix(mix(seed) + purpose) + index)) {}

  std::uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15U); }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }
  /// Uniform in (0, 1]: safe to take the logarithm or a negative power of.
  double positive() { return 1.0 - uniform(); }
  /// Uniform in {0, ..., bound - 1}.
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(((next() >> 32U) * static_cast<std::uint64_t>(bound)) >> 32U);
  }
  /// Standard normal (Box-Muller).
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(positive()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
  /// Exponential of mean 1.
  double exponential() { return -std::log(positive()); }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  std::uint64_t state_;
};

}  // namespace poise
