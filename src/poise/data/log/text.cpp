#include "poise/data/log/text.hpp"

#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace poise::logs {

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

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string_view head = text.substr(0, longest);
  while (!head.empty() && head.size() < text.size() && (text[head.size()] & 0xc0) == 0x80)
    head.remove_suffix(1);
  const bool readable = is_utf8(head);
  std::string result = "'";
  for (const char c : head) {
    if ((c >= ' ' && c < 0x7f) || (c < 0 && readable)) {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return result + (text.size() > head.size() ? "...'" : "'");
}

}  // namespace poise::logs
