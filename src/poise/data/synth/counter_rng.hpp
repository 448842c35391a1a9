#pragma once

#include "poise/base/counter_stream.hpp"

namespace poise::synth {

/// Users per tile.
constexpr std::int64_t users_per_tile = 1024;

/// The purpose of a random stream; streams of different purposes are independent.
enum class Purpose : std::uint64_t { numbering = 1, grouping, activity, taste, items, repair, counts, order };

/// The streams of synthetic data.
class CounterRng : public CounterStream {
 public:
  CounterRng(std::uint64_t seed, Purpose purpose, std::uint64_t index)
      : CounterStream(seed, static_cast<std::uint64_t>(purpose), index) {}
};

}  // namespace poise::synth
