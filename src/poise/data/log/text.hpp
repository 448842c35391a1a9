#pragma once

#include <string>
#include <string_view>

namespace poise::logs {

/// The text without blanks and tabs around it.
std::string_view trimmed(std::string_view text);

/// The text in quotes for a message: shortened, with unreadable bytes escaped.
std::string shown(std::string_view text);

/// What a message says of a line with a NUL byte.
inline constexpr std::string_view nul_byte = "the line holds a NUL byte; is it a text file?";

}  // namespace poise::logs
