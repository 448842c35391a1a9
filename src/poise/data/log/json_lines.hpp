#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "poise/data/log/chunks.hpp"
#include "poise/data/log/parsed_chunk.hpp"
#include "poise/data/log_reader.hpp"

namespace poise::logs {

/// Which fields of each object are read.
struct JsonFields {
  std::string user;
  std::string item;
  std::optional<std::string> value;
  std::optional<std::string> time = {};
  std::string reading;  ///< in words: Interactions::reading
};

/// The fields asked for, else those of the first object whose names are known (user_id, movieId, rating,
/// ...). Error{input} where they are not known: the fields of an object have no order to go by. `sample` are
/// the first bytes of the file.
JsonFields find_fields(std::string_view sample, const LogOptions& options, const std::string& file);

/// Parses a chunk of lines that are each a JSON object (RFC 8259). Ids are texts, or whole numbers, which
/// stand for their digits; null is an empty id. Values and times are numbers, or texts that hold them. Other
/// fields may hold anything. A line is bad if it is no object, lacks one of the fields or has it twice, or if
/// a field holds something else.
ParsedChunk parse_json_lines(const Chunk& chunk, const RowRules& rules);

}  // namespace poise::logs
