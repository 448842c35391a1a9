#pragma once

#include <optional>
#include <string>

#include "poise/data/log/chunks.hpp"
#include "poise/data/log/parsed_chunk.hpp"

namespace poise::logs {

/// Parses a chunk of the Netflix layout: a line `movie:` and under it lines `user,rating` or
/// `user,rating,date`. `movie`: the one in force where the chunk begins, empty for none; a null pointer when
/// it is not known yet and taken to be there.
ParsedChunk parse_netflix(const Chunk& chunk, const RowRules& rules, const std::optional<std::string>* movie);

}  // namespace poise::logs
