#pragma once

#include <string_view>

#include "poise/serve/http.hpp"
#include "poise/serve/limits.hpp"

namespace poise::serve {

/// Reads the head of a request: the request line and headers of RFC 9112 without what servers and proxies
/// read differently. `bytes` ends with the empty line. A Refusal for
///
/// - 400: a line that does not end with CRLF, a folded header, a space before a colon, a byte outside
///   visible ASCII, space and tab (NUL and obs-text included); a target that does not begin with '/';
///   no Host or two; two Content-Lengths, or one that is not all digits; Transfer-Encoding with one
/// - 411, 413: a POST without Content-Length, or one above the limit
/// - 431: too many headers
/// - 501: any Transfer-Encoding
/// - 505: another version than HTTP/1.0 and 1.1
RequestHead parse_head(std::string_view bytes, const Limits& limits);

}  // namespace poise::serve
