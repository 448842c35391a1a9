#include "poise/data/log/text.hpp"

#include <fmt/format.h>

#include "poise/base/utf8.hpp"

namespace poise::logs {

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
