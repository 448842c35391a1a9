#include "poise/search/point_message.hpp"

#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "poise/base/json_number.hpp"
#include "poise/search/point_json.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {
namespace {

using Json = nlohmann::ordered_json;

ModelParameters parameters_in(const Json& json) {
  return parameters_of(json.get<std::map<std::string, std::string>>());
}

Json rival_json(const Rival& rival) {
  return {{"mean", rival.mean}, {"values", std::vector(rival.values.begin(), rival.values.end())}};
}

Json race_json(const std::optional<Race>& race) {
  if (!race) return {};
  Json json = {{"users", race->users}, {"least", race->least}, {"leader", rival_json(race->leader)}};
  json["alike"] = Json::array();
  for (const Rival& each : race->alike) json["alike"].push_back(rival_json(each));
  return json;
}

Json cut_json(const std::optional<Standing>& cut) {
  if (!cut) return {};
  return {{"mean", json_number(cut->mean)}, {"error", json_number(cut->error)}, {"users", cut->users}};
}

std::optional<Standing> cut_in(const Json& json) {
  if (json.is_null()) return {};
  return Standing{.mean = number_of_json(json.at("mean")),
                  .error = number_of_json(json.at("error")),
                  .users = json.at("users").get<std::int64_t>()};
}

}  // namespace

std::string message_of(const PointGroup& group) {
  Json json = {
      {"both", group.diagonals == Diagonals::both}, {"points", Json::array()}, {"races", Json::array()}};
  for (const ModelParameters& point : group.points) json["points"].push_back(option_texts(point));
  for (const auto& race : group.races) json["races"].push_back(race_json(race));
  if (group.seconds) json["seconds"] = *group.seconds;
  return json.dump();
}

ReceivedGroup::ReceivedGroup(const std::string& message) {
  const Json json = Json::parse(message);
  group_.diagonals = json.at("both").get<bool>() ? Diagonals::both : Diagonals::as_asked;
  if (json.contains("seconds")) group_.seconds = json.at("seconds").get<double>();
  for (const Json& point : json.at("points")) group_.points.push_back(parameters_in(point));
  // A vector keeps its elements where they are when the vector that holds it grows.
  const auto rival_in = [&](const Json& rival) {
    const auto& values = values_.emplace_back(rival.at("values").get<std::vector<std::int32_t>>());
    return Rival{.mean = rival.at("mean").get<double>(), .values = values};
  };
  for (const Json& each : json.at("races")) {
    auto& race = group_.races.emplace_back();
    if (each.is_null()) continue;
    race = Race{.users = each.at("users").get<std::int64_t>(),
                .leader = rival_in(each.at("leader")),
                .alike = {},
                .least = each.at("least").get<std::int64_t>()};
    for (const Json& rival : each.at("alike")) race->alike.push_back(rival_in(rival));
  }
}

std::string message_of(const PointAnswer& answer) {
  Json json = {{"seconds", answer.seconds}, {"results", Json::array()}, {"left", Json::array()}};
  for (const PointResult& each : answer.results)
    json["results"].push_back({{"point", option_texts(each.parameters)},
                               {"entry", journal_entry(each)},
                               {"cut", cut_json(each.cut)}});
  for (const ModelParameters& point : answer.left) json["left"].push_back(option_texts(point));
  return json.dump();
}

PointAnswer answer_in(const std::string& message) {
  const Json json = Json::parse(message);
  PointAnswer answer{.results = {}, .left = {}, .seconds = json.at("seconds").get<double>()};
  for (const Json& each : json.at("results")) {
    PointResult& result =
        answer.results.emplace_back(point_from_json(each.at("entry"), parameters_in(each.at("point"))));
    result.cut = cut_in(each.at("cut"));
  }
  for (const Json& point : json.at("left")) answer.left.push_back(parameters_in(point));
  return answer;
}

}  // namespace poise
