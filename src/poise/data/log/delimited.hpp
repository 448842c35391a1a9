#pragma once

#include <optional>
#include <string>

#include "poise/data/log/chunks.hpp"
#include "poise/data/log/parsed_chunk.hpp"

namespace poise::logs {

/// The layout of one delimited file. Columns count from 0.
struct DelimitedLayout {
  std::string delimiter;
  int user = 0;
  int item = 1;
  std::optional<int> value;
  std::optional<int> time = {};
};

/// Parses a chunk of delimited text; its header, if any, has been skipped.
ParsedChunk parse_delimited(const Chunk& chunk, const RowRules& rules);

}  // namespace poise::logs
