#pragma once

#include <string_view>

namespace poise {

/// The bytes that some programs write before the first line of UTF-8 text; they are no part of the text.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

}  // namespace poise
