#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

namespace poise {

/// A number as JSON; null unless it is finite.
inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}
inline nlohmann::ordered_json json_number(const std::optional<double>& value) {
  return value ? json_number(*value) : nlohmann::ordered_json();
}
/// A number of JSON; NaN for null.
inline double number_of_json(const nlohmann::ordered_json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

}  // namespace poise
