#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace poise {

/// One line of JSON, without the end of the line; bytes that are not UTF-8 are replaced.
inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// A text as JSON.
inline std::string json_quoted(std::string_view text) { return json_text(nlohmann::ordered_json(text)); }

}  // namespace poise
