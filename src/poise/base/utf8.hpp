#pragma once

#include <string_view>

namespace poise {

/// Whether the bytes are well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above
/// U+10FFFF).
bool is_utf8(std::string_view text);

}  // namespace poise
