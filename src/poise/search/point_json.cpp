#include "poise/search/point_json.hpp"

#include "poise/base/error.hpp"
#include "poise/base/json_number.hpp"

namespace poise {

using Json = nlohmann::ordered_json;

Json to_json(const Estimates& estimates) {
  Json json = Json::object();
  for (const auto& [metric, estimate] : estimates) {
    json[metric] = {{"mean", estimate.mean},
                    {"stderr", estimate.standard_error ? Json(*estimate.standard_error) : Json()}};
  }
  return json;
}

Estimates estimates_from_json(const Json& json) {
  Estimates estimates;
  for (const auto& [metric, estimate] : json.items()) {
    Estimate one{.mean = estimate.at("mean").get<double>(), .standard_error = {}};
    if (!estimate.at("stderr").is_null()) one.standard_error = estimate.at("stderr").get<double>();
    estimates.emplace_back(metric, one);
  }
  return estimates;
}

Json to_json(const PointResult& result) {
  if (!result.failure.empty()) return {{"failure", result.failure}, {"seconds", result.seconds}};
  return {{"validation", to_json(result.validation)},
          {"objective", result.objective},
          {"certificate", to_json(result.certificate, result.parameters.family == Family::full_rank)},
          {"iterations", result.iterations},
          {"rounds", result.rounds},
          {"converged", result.converged},
          {"seconds", result.seconds}};
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
    UserSample sample{.users = json.at("users").get<std::int64_t>()};
    for (const auto& [metric, values] : json.at("sample").items())
      sample.values.emplace_back(metric, values.get<std::vector<std::int32_t>>());
    PointResult result{.parameters = parameters,
                       .validation = estimates_from_json(json.at("validation")),
                       .objective = number_of_json(json.at("objective")),
                       .certificate = certificate_from_json(json.at("certificate")),
                       .iterations = json.at("iterations").get<std::int64_t>(),
                       .rounds = json.at("rounds").get<std::int64_t>(),
                       .converged = json.at("converged").get<bool>(),
                       .seconds = json.at("seconds").get<double>(),
                       .sample = std::move(sample)};
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
