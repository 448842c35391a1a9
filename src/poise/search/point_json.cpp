#include "poise/search/point_json.hpp"

#include "poise/base/error.hpp"
#include "poise/search/field_json.hpp"

namespace poise {

using Json = nlohmann::ordered_json;

Json to_json(const PointResult& result) {
  if (!result.failure.empty()) return {{"failure", result.failure}, {"seconds", result.seconds}};
  Json json;
  each_field(fields<PointResult>, result,
             [&](const char* key, const auto& value) { json[key] = field_json(value); });
  if (result.parameters.family != Family::full_rank) json["certificate"].erase("worst_column");
  return json;
}

Json journal_entry(const PointResult& result) {
  Json json = to_json(result);
  if (!result.failure.empty()) return json;
  json["users"] = result.sample.users;
  json["sample"] = Json::object();
  for (const auto& [metric, values] : result.sample.values) json["sample"][metric] = values;
  return json;
}

PointResult point_from_json(const Json& json, const ModelParameters& parameters) {
  try {
    if (json.contains("failure")) {
      return {.parameters = parameters,
              .seconds = json.at("seconds").get<double>(),
              .failure = json.at("failure").get<std::string>()};
    }
    PointResult result{.parameters = parameters};
    each_field(fields<PointResult>, result,
               [&](const char* key, auto& value) { read_field(json.at(key), value); });
    result.sample.users = json.at("users").get<std::int64_t>();
    for (const auto& [metric, values] : json.at("sample").items())
      result.sample.values.emplace_back(metric, values.get<std::vector<std::int32_t>>());
    // The standing of a cut point depends on its race.
    if (result.validation.empty())
      result.cut = Standing{
          .users = result.sample.values.empty() ? 0 : std::ssize(result.sample.values.front().second)};
    return result;
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::input, "an entry of the journal cannot be read ({})", error.what());
  }
}

}  // namespace poise
