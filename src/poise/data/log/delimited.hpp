#pragma once

#include <optional>
#include <string>
#include <vector>

#include "poise/data/log/chunks.hpp"
#include "poise/data/log/parsed_chunk.hpp"

namespace poise::logs {

/// How one delimited file is laid out. Columns count from 0.
struct DelimitedLayout {
  std::string delimiter;
  int user = 0;
  int item = 1;
  std::optional<int> value;
};

/// Parses a chunk of delimited text whose header, if it had one, has been passed over.
ParsedChunk parse_delimited(const Chunk& chunk, const RowRules& rules);

}  // namespace poise::logs
