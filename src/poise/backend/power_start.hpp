#pragma once

#include <cstdint>
#include <vector>

#include "poise/base/counter_stream.hpp"

namespace poise {

/// A vector of length 1 from which power iterations start, always the same. Its entries are normal numbers:
/// one of +-1 is orthogonal to the difference of two equal items, whose eigenvalue is the smallest there is.
inline std::vector<double> power_start(std::int64_t n) {
  constexpr std::uint64_t purpose = 0x706F776572;
  CounterStream random(0, purpose, 0);
  std::vector<double> x(n);
  double squares = 0;
  for (double& entry : x) {
    entry = random.normal();
    squares += entry * entry;
  }
  for (double& entry : x) entry /= std::sqrt(squares);
  return x;
}

}  // namespace poise
