#pragma once

#include <string_view>

namespace poise {

/// What some programs write before the first line of UTF-8 text; it is no part of the text.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

}  // namespace poise
