#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poise/data/interactions.hpp"
#include "poise/data/log/chunks.hpp"
#include "poise/data/log/id_map.hpp"
#include "poise/data/log/parsed_chunk.hpp"
#include "poise/data/log/read_inputs.hpp"

namespace poise::logs {

/// Parses a chunk of any format, assuming that it begins at the start of a record and, unless it is its
/// input's first, below some movie line.
ParsedChunk parse_chunk(const Chunk& chunk, LogFormat format, const RowRules& rules);

/// Joins the rows of chunks, in order, to one log. Parses a chunk again if its assumption was wrong, so that
/// the result equals that of reading the log in one piece.
class Merger {
 public:
  /// `stored_bytes`: the size of all inputs, or 0 if it is unknown.
  Merger(const std::vector<LogInput>& inputs, LogFormat format, const RowRules& rules,
         std::uint64_t stored_bytes)
      : inputs_(inputs), format_(format), rules_(rules), stored_bytes_(stored_bytes) {}

  void add(Chunk chunk, ParsedChunk parsed);
  Interactions finish();

 private:
  /// What stands between the name of an input and a line of it.
  [[nodiscard]] const char* row_mark() const { return format_ == LogFormat::sqlite ? ", row " : ":"; }
  void parse_again_if_needed(Chunk& chunk, ParsedChunk& parsed);
  void check_unit(const ParsedChunk& parsed, const std::string& name);
  void append_rows(const ParsedChunk& parsed);
  void make_room(const ParsedChunk& parsed);

  const std::vector<LogInput>& inputs_;
  const LogFormat format_;
  const RowRules& rules_;
  const std::uint64_t stored_bytes_;
  std::uint64_t stored_bytes_done_ = 0;

  Interactions result_;
  IdMap users_;
  IdMap items_;
  std::int64_t line_ = 1;                // the line at which the current input's next chunk begins
  std::int64_t records_ = 0;             // of the current input so far
  std::string open_record_;              // the beginning of a record that the last chunk's end has cut
  TimeUnit unit_ = TimeUnit::automatic;  // of the log's times so far
  std::optional<std::string> movie_;     // the current movie at the end of the last chunk
};

}  // namespace poise::logs
