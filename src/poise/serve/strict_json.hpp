#pragma once

#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

namespace poise::serve {

using Json = nlohmann::ordered_json;

/// JSON as RFC 8259 has it, in UTF-8, without what parsers read differently: a Refusal{400} also for a name
/// that an object has twice, values nested deeper than `depth`, numbers that no double holds, a byte-order
/// mark, an object of more than 100 names.
Json parse_strictly(std::string_view text, std::int64_t depth);

}  // namespace poise::serve
