#pragma once

#include <string>
#include <string_view>

namespace poise::logs {

/// Whether the bytes are well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_utf8(std::string_view text);

/// The text without blanks and tabs around it.
std::string_view trimmed(std::string_view text);

/// The text in quotes for a message: shortened, with unreadable bytes escaped.
std::string shown(std::string_view text);

}  // namespace poise::logs
