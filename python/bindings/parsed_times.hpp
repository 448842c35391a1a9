#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "poise/data/log_reader.hpp"

namespace poise::python {

/// Microseconds from texts, by the rules of logs.
class ParsedTimes {
 public:
  /// "auto", "s", "ms", "us" or "ns".
  explicit ParsedTimes(const std::string& unit);
  /// `row`, counted from 0, is for messages.
  std::int64_t parse(std::string_view text, std::int64_t row);

 private:
  TimeUnit unit_;
  TimeUnit seen_ = TimeUnit::automatic;
};

}  // namespace poise::python
