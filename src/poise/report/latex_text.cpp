#include <cstdint>
#include <map>

#include <fmt/format.h>

#include "poise/report/latex.hpp"

namespace poise::report {

namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: not UTF-8
};

Character decode(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at]));
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7FU >> bytes);
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(at) & 0x3FU);
  }
  return {code, bytes};
}

std::string escaped(char c) {
  static const std::map<char, std::string> names = {
      {'\\', "\\textbackslash{}"},  {'~', "\\textasciitilde{}"},
      {'^', "\\textasciicircum{}"}, {'<', "\\textless{}"},
      {'>', "\\textgreater{}"},     {'|', "\\textbar{}"},
      {'"', "\\textquotedbl{}"},    {'\'', "\\textquotesingle{}"},
      {'`', "\\textasciigrave{}"},  {'-', "-{}"}};  // two in a row would become a dash
  if (const auto name = names.find(c); name != names.end()) return name->second;
  if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) return std::string("\\") + c;
  // After a line's end these would be taken for an argument.
  if (std::string_view("[]*").find(c) != std::string_view::npos) return std::string("{") + c + "}";
  return static_cast<unsigned char>(c) < ' ' || c == 0x7F ? " " : std::string(1, c);
}

// The characters of the T1 encoding: Latin-1 and Latin Extended-A less a few.
bool has_letter(std::uint32_t code) {
  if (code >= 0xC0 && code <= 0xFF) return code != 0xD7 && code != 0xF7;
  if (code < 0x100 || code > 0x17E) return false;
  return code != 0x126 && code != 0x127 && code != 0x138 && code != 0x13F && code != 0x140 && code != 0x149 &&
         code != 0x166 && code != 0x167;
}

}  // namespace

std::string latex_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [code, bytes] = decode(text);
    if (bytes == 0) {
      result += fmt::format("{{[}}x{:02X}{{]}}", static_cast<unsigned char>(text[0]));
    } else if (bytes == 1) {
      result += escaped(text[0]);
    } else if (has_letter(code)) {
      result += text.substr(0, bytes);
    } else {
      result += fmt::format("{{[}}U+{:04X}{{]}}", code);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

}  // namespace poise::report
