#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poise/data/split.hpp"

#include "command.hpp"

namespace poise::app {

/// The flags of `prepare` for splits in time.
struct TimeFlags {
  std::vector<std::string> test_from;
  std::string test_to;
  std::string validation_from;
  std::optional<std::int64_t> holdout;
  std::string unit = "auto";

  /// Error{usage} for flags that do not go with the split.
  void check(const std::string& split) const;
  [[nodiscard]] TimeUnit time_unit() const;
  /// One for each cut, in the order of time. Of several cuts, the test part of each ends at the next.
  [[nodiscard]] std::vector<TimeSplit> splits() const;
};

/// Whether this split is one in time.
bool is_split_in_time(const std::string& split);

void add_time_flags(CLI::App& parser, TimeFlags& flags);

}  // namespace poise::app
