#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include <nlohmann/json.hpp>

namespace poise::serve {

using Json = nlohmann::ordered_json;

/// JSON as RFC 8259 has it, in UTF-8, without what parsers read differently: a Refusal{400} also for a name
/// that an object has twice, values nested deeper than `depth`, numbers that no double holds, a byte-order
/// mark, an object of more than 100 names. A Refusal{413} for more than `most_values` values, which take many
/// times the memory of their text.
Json parse_strictly(std::string_view text, std::int64_t depth,
                    std::int64_t most_values = std::numeric_limits<std::int64_t>::max());

}  // namespace poise::serve
