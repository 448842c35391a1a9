#include "poise/base/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace poise {

namespace {

bool is_ascii(std::string_view text) {
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t seen = 0;
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    seen |= word;
  }
  for (; left > 0; --left, ++at) seen |= static_cast<unsigned char>(*at);
  return (seen & 0x8080808080808080U) == 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  if (is_ascii(text)) return true;
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* const end = at + text.size();
  while (at < end) {
    const unsigned lead = *at++;
    if (lead < 0x80) continue;
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || end - at < more) return false;
    std::uint32_t code = lead & (0x3fU >> static_cast<unsigned>(more));
    for (int k = 0; k < more; ++k) {
      if ((*at & 0xc0U) != 0x80) return false;
      code = code << 6U | (*at++ & 0x3fU);
    }
    const bool overlong = (more == 2 && code < 0x800) || (more == 3 && code < 0x10000);
    if (overlong || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return false;
  }
  return true;
}

}  // namespace poise
