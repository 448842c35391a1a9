#include "poise/data/log/line_formats.hpp"

#include <algorithm>

#include "poise/data/log/for_each_line.hpp"
#include "poise/data/log/text.hpp"

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

/// Whether the line is `movie:`.
bool is_movie_line(std::string_view line) {
  return line.ends_with(':') && line.find(',') == std::string_view::npos;
}

}  // namespace

ParsedChunk parse_adjacency(const Chunk& chunk, const RowRules& rules) {
  ParsedChunk parsed(rules);
  for_each_line(chunk.bytes, parsed, [&](std::string_view line) {
    if (line.find('\0') != std::string_view::npos) {
      return parsed.reject(std::string(nul_byte));
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

ParsedChunk parse_netflix(const Chunk& chunk, const RowRules& rules,
                          const std::optional<std::string>* movie) {
  ParsedChunk parsed(rules);
  bool inherits = movie == nullptr;
  bool known = movie != nullptr && movie->has_value();
  std::string_view current = known ? std::string_view(**movie) : std::string_view();
  for_each_line(chunk.bytes, parsed, [&](std::string_view line) {
    if (line.empty()) return true;
    ++parsed.records;
    if (line.find('\0') != std::string_view::npos) return parsed.reject(std::string(nul_byte));
    if (is_movie_line(line)) {
      line.remove_suffix(1);
      inherits = false;
      parsed.movie.emplace();
      known = is_sound_id(line);
      if (!known) return parsed.reject(id_problem(line, "item"));
      current = line;
      parsed.movie->emplace(line);
      return true;
    }
    if (!known && !inherits) {
      return parsed.reject("a rating stands before any line with its movie; put a line like 123: before it");
    }
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos)
      return parsed.reject("neither a movie (123:) nor a rating (user,rating,date); correct it");
    const std::size_t second = std::min(line.find(',', comma + 1), line.size());
    Row row{.user = line.substr(0, comma),
            .item = current,
            .value = line.substr(comma + 1, second - comma - 1),
            .inherits_item = inherits};
    if (rules.times) row.time = line.substr(std::min(second + 1, line.size()));
    return parsed.add(row);
  });
  return parsed;
}

}  // namespace poise::logs
