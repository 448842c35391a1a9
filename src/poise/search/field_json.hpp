#pragma once

#include <concepts>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "poise/base/fields.hpp"
#include "poise/base/json_number.hpp"
#include "poise/evaluate/estimates.hpp"
#include "poise/train/certificate_json.hpp"

/// Fields of results (base/fields.hpp) as JSON, for results and journals alike: read_field undoes field_json.
namespace poise {

nlohmann::ordered_json to_json(const Estimates& estimates);
Estimates estimates_from_json(const nlohmann::ordered_json& json);

template <class T>
nlohmann::ordered_json field_json(const T& value) {
  if constexpr (std::same_as<T, double> || std::same_as<T, std::optional<double>>)
    return json_number(value);
  else if constexpr (std::same_as<T, Estimates>)
    return to_json(value);
  else if constexpr (std::same_as<T, Certificate>)
    return to_json(value, true);
  else
    return value;
}

/// Structs as lists of their values, which are many.
template <HasFields T>
nlohmann::ordered_json field_json(const std::vector<T>& structs) {
  auto array = nlohmann::ordered_json::array();
  for (const T& each : structs) {
    auto values = nlohmann::ordered_json::array();
    each_field(fields<T>, each, [&](const char*, const auto& value) { values.push_back(field_json(value)); });
    array.push_back(std::move(values));
  }
  return array;
}

template <class T>
void read_field(const nlohmann::ordered_json& json, T& value) {
  if constexpr (std::same_as<T, double>)
    value = number_of_json(json);
  else if constexpr (std::same_as<T, std::optional<double>>)
    value = json.is_null() ? T() : T(json.get<double>());
  else if constexpr (std::same_as<T, Estimates>)
    value = estimates_from_json(json);
  else if constexpr (std::same_as<T, Certificate>)
    value = certificate_from_json(json);
  else
    value = json.get<T>();
}

template <HasFields T>
void read_field(const nlohmann::ordered_json& json, std::vector<T>& structs) {
  for (const nlohmann::ordered_json& values : json) {
    std::size_t place = 0;
    each_field(fields<T>, structs.emplace_back(),
               [&](const char*, auto& value) { read_field(values.at(place++), value); });
  }
}

}  // namespace poise
