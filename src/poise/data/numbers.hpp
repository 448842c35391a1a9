#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace poise {

/// Whether the text is digits and nothing else.
bool is_whole_number(std::string_view text);

/// The whole number that the text represents by digits alone; none if it has other characters or exceeds
/// `limit`.
std::optional<std::int64_t> parse_whole_number(std::string_view text, std::int64_t limit);

/// The number that the text represents in decimal notation, with optional blanks around it and a sign; it may
/// be infinite or NaN.
std::optional<double> parse_number(std::string_view text);

/// Whether the number can be a Unix time: whole seconds or milliseconds of the years 1980 to 2100.
bool looks_like_unix_time(double number);

}  // namespace poise
