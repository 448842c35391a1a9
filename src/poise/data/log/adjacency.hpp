#pragma once

#include "poise/data/log/chunks.hpp"
#include "poise/data/log/parsed_chunk.hpp"

namespace poise::logs {

/// Parses a chunk of lines `user item item ...`, separated by blanks or tabs.
ParsedChunk parse_adjacency(const Chunk& chunk, const RowRules& rules);

}  // namespace poise::logs
