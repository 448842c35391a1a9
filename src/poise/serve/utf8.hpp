#pragma once

#include <cstddef>
#include <string_view>

namespace poise::serve {

/// Whether a text is UTF-8 as RFC 3629 defines it: no overlong form, no surrogate, nothing above U+10FFFF.
inline bool is_utf8(std::string_view text) {
  for (std::size_t k = 0; k < text.size();) {
    const auto byte = [&](std::size_t at) -> unsigned {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const unsigned lead = byte(k);
    if (lead < 0x80) {
      ++k;
      continue;
    }
    const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4) return false;
    for (std::size_t c = 1; c <= more; ++c) {
      if ((byte(k + c) & 0xC0U) != 0x80) return false;
    }
    const unsigned next = byte(k + 1);
    if ((lead == 0xE0 && next < 0xA0) || (lead == 0xED && next > 0x9F) || (lead == 0xF0 && next < 0x90) ||
        (lead == 0xF4 && next > 0x8F))
      return false;
    k += more + 1;
  }
  return true;
}

}  // namespace poise::serve
