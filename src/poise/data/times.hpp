#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "poise/data/log_reader.hpp"

namespace poise {

/// What a text says about a time.
struct ParsedTime {
  std::int64_t microseconds = 0;            ///< since 1970 (UTC)
  TimeUnit unit = TimeUnit::automatic;      ///< of a number that shows it by its size
  std::optional<std::string_view> problem;  ///< what is wrong with the text, and what to do
};

/// A time is
/// - a number (with a fraction or exponent, or a sign) that counts the unit since 1970. Without a unit its
/// size shows
///   it: below 1e11 in magnitude seconds (up to the year 5138), below 1e14 milliseconds (from 1973 on), below
///   1e17 microseconds, else nanoseconds;
/// - a date of ISO 8601, 2011-12-31 or 2011/12/31, which is its midnight, and perhaps behind T or blanks a
/// time of day,
///   08:26, 08:26:01 or 08:26:01.5, and behind it a zone, Z or +01:00, +0100 or +01. Without a zone it is
///   UTC.
/// Digits behind the microseconds are cut off. Years are 0001 to 9999. A text that can be read in two ways
/// (01/02/2011; eight digits that are a date) is refused.
ParsedTime parse_time(std::string_view text, TimeUnit unit = TimeUnit::automatic);

/// Whether a column of such texts is likely to hold times: a date, or a number that looks like a Unix time.
bool looks_like_time(std::string_view text);

/// "2011-12-31T08:26:01.5Z": parse_time reads it again. A time outside the years 0001 to 9999 is its number
/// of seconds.
std::string time_text(std::int64_t microseconds);

/// "seconds", "milliseconds", ...
std::string_view time_unit_name(TimeUnit unit);

}  // namespace poise
