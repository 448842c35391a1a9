#pragma once

#include <optional>
#include <string>

#include "poise/data/log/chunks.hpp"
#include "poise/data/log/parsed_chunk.hpp"

namespace poise::logs {

/// Parses a chunk of lines `user item item ...`, separated by blanks or tabs.
ParsedChunk parse_adjacency(const Chunk& chunk, const RowRules& rules);

/// Parses a chunk of the Netflix layout: a line `movie:` and below it lines `user,rating` or
/// `user,rating,date`. `movie` is the current movie at the start of the chunk, empty for none; a null pointer
/// if it is not known yet, which assumes that there is one. With rules.times every rating needs its date.
ParsedChunk parse_netflix(const Chunk& chunk, const RowRules& rules, const std::optional<std::string>* movie);

}  // namespace poise::logs
