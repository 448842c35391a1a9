#include "poise/search/field_json.hpp"

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

}  // namespace poise
