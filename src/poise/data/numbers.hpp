#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace poise {

/// Whether the text is digits and nothing else.
bool is_whole_number(std::string_view text);

/// The whole number that the text spells with digits alone; missing when it spells none or one beyond
/// `limit`.
std::optional<std::int64_t> parse_whole_number(std::string_view text, std::int64_t limit);

/// The number that the text spells in decimal notation, blanks around it and a sign before it allowed; it may
/// be infinite or NaN.
std::optional<double> parse_number(std::string_view text);

/// Whether the number can be a moment in Unix time: whole seconds or milliseconds of the years 1980 to 2100.
bool looks_like_unix_time(double number);

}  // namespace poise
