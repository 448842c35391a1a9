#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/data/synth/counter_rng.hpp"

namespace poise::synth {

/// Draws a label with probability proportional to its weight, in O(1) (Walker's alias method as built by
/// Vose 1991). O(labels) to build.
class AliasTable {
 public:
  AliasTable() = default;
  /// labels and weights have the same length; the weights are at least 0 and, unless there are none, not all
  /// 0.
  AliasTable(std::span<const std::int32_t> labels, std::span<const double> weights);
  /// Labels 0, 1, ...
  explicit AliasTable(std::span<const double> weights);

  [[nodiscard]] bool empty() const { return slots_.empty(); }
  [[nodiscard]] std::int32_t draw(CounterRng& rng) const {
    const std::uint64_t bits = rng.next();
    const Slot& slot = slots_[((bits >> 32U) * slots_.size()) >> 32U];
    return (bits & 0xFFFFFFFFU) < slot.threshold ? slot.own : slot.other;
  }

 private:
  struct Slot {
    std::uint64_t threshold;  ///< in [0, 2^32]: the own label below it, the other one otherwise
    std::int32_t own;
    std::int32_t other;
  };
  std::vector<Slot> slots_;
};

}  // namespace poise::synth
