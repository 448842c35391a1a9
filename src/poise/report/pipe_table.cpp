#include "poise/report/pipe_table.hpp"

#include <algorithm>
#include <cctype>

namespace poise::report {

namespace {

constexpr std::size_t least_width = 3;  // of the line under the header

std::size_t characters(std::string_view text) {
  return std::ranges::count_if(text, [](unsigned char byte) { return (byte & 0xC0U) != 0x80U; });
}

// "<" begins HTML only before these characters; "p < 0.001" should stay readable.
bool opens_tag(std::string_view after) {
  return !after.empty() && (std::isalpha(static_cast<unsigned char>(after[0])) || after[0] == '/' ||
                            after[0] == '!' || after[0] == '?');
}

}  // namespace

std::string PipeTable::text() const {
  std::vector<std::size_t> widths(alignment_.size(), least_width);
  for (const auto& row : rows_) {
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], characters(row[column]));
  }
  std::string result;
  for (std::size_t line = 0; line < rows_.size(); ++line) {
    result += '|';
    for (std::size_t column = 0; column < widths.size(); ++column) {
      const std::string cell = column < rows_[line].size() ? rows_[line][column] : "";
      const std::string space(widths[column] - characters(cell), ' ');
      const bool right = alignment_[column] == 'r';
      result.append(" ").append(right ? space : cell).append(right ? cell : space).append(" |");
    }
    result += '\n';
    if (line > 0) continue;
    result += '|';
    for (std::size_t column = 0; column < widths.size(); ++column)
      result += alignment_[column] == 'r' ? " " + std::string(widths[column] - 1, '-') + ": |"
                                          : " " + std::string(widths[column], '-') + " |";
    result += '\n';
  }
  return result;
}

std::string markdown_text(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) < ' ') {
      result += ' ';
      continue;
    }
    if (std::string_view("\\|*`[").find(c) != std::string_view::npos ||
        (c == '<' && opens_tag(text.substr(at + 1))))
      result += '\\';
    result += c;
  }
  return result;
}

}  // namespace poise::report
