#pragma once

#include <algorithm>
#include <string_view>

#include "poise/data/log/parsed_chunk.hpp"

namespace poise::logs {

/// Calls take(line) for each line, without its end, until it returns false; counts the lines in `parsed`.
template <class Take>
void for_each_line(std::string_view bytes, ParsedChunk& parsed, const Take& take) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t line_end = std::min(bytes.find('\n', at), bytes.size());
    std::string_view line = bytes.substr(at, line_end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!take(line)) return;
    ++parsed.lines;
    at = line_end + 1;
  }
}

}  // namespace poise::logs
