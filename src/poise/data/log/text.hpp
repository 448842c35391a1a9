#pragma once

#include <string>
#include <string_view>

namespace poise::logs {

/// The text without blanks and tabs around it.
std::string_view trimmed(std::string_view text);

/// The text in quotes for a message: shortened, with unreadable bytes escaped.
std::string shown(std::string_view text);

}  // namespace poise::logs
