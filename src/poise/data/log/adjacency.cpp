#include "poise/data/log/adjacency.hpp"

#include <algorithm>

#include "poise/data/log/lines.hpp"

namespace poise::logs {

namespace {

constexpr std::string_view blanks = " \t";

/// Cuts the next token off the front of the line; empty at its end.
std::string_view take_token(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::string_view token = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(token.size());
  return token;
}

}  // namespace

ParsedChunk parse_adjacency(const Chunk& chunk, const RowRules& rules) {
  ParsedChunk parsed(rules);
  for_each_line(chunk.bytes, parsed, [&](std::string_view line) {
    if (line.find('\0') != std::string_view::npos) {
      return parsed.reject("the line holds a NUL byte; is it a text file?");
    }
    const std::string_view user = take_token(line);
    if (user.empty()) return true;
    ++parsed.records;
    if (!is_sound_id(user)) return parsed.reject(id_problem(user, "user"));
    for (std::string_view rest = line, item = take_token(rest); !item.empty(); item = take_token(rest)) {
      // A bad line is dropped as a whole, so no row is kept before all are checked.
      if (!is_sound_id(item)) return parsed.reject(id_problem(item, "item"));
    }
    for (std::string_view item = take_token(line); !item.empty(); item = take_token(line)) {
      parsed.add({.user = user, .item = item, .value = {}, .utf8 = true});
    }
    return true;
  });
  return parsed;
}

}  // namespace poise::logs
