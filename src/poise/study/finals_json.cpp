#include <limits>

#include "poise/base/error.hpp"
#include "poise/base/json_number.hpp"
#include "poise/search/point_json.hpp"
#include "poise/study/finals.hpp"

namespace poise {
namespace {

using Json = nlohmann::ordered_json;

/// Infinite ends of an interval are written as null.
double number_or(const Json& json, double otherwise) {
  return json.is_null() ? otherwise : json.get<double>();
}
constexpr double infinity = std::numeric_limits<double>::infinity();

std::optional<double> optional_number(const Json& json) {
  if (json.is_null()) return {};
  return json.get<double>();
}

RowKind parse_kind(const std::string& name) {
  for (const RowKind kind : {RowKind::unweighted, RowKind::weighted, RowKind::down_weighted}) {
    if (to_string(kind) == name) return kind;
  }
  fail(ErrorKind::input, "an entry of the journal has rows of an unknown kind");
}

Json difference_json(const PairedDifference& test) {
  return {{"users", test.users},
          {"difference", test.difference},
          {"low", test.low},
          {"high", test.high},
          {"p", test.p}};
}
PairedDifference difference_from_json(const Json& json) {
  return {.users = json.at("users").get<std::int64_t>(),
          .difference = json.at("difference").get<double>(),
          .low = number_or(json.at("low"), -infinity),
          .high = number_or(json.at("high"), infinity),
          .p = json.at("p").get<double>()};
}

Json journal_row(const StudyRow& row) {
  Json convergence = Json::array();
  for (const ConvergenceStep& step : row.convergence)
    convergence.push_back({step.step, json_number(step.objective), json_number(step.certificate)});
  Json bins = Json::array();
  for (const PopularityBin& bin : row.by_popularity)
    bins.push_back({bin.least, bin.most, bin.items, bin.targets, bin.recall});
  return {{"kind", to_string(row.kind)},
          {"lambda", row.lambda},
          {"alpha", row.alpha},
          {"dropout", row.dropout},
          {"lambda_exponent", row.lambda_exponent},
          {"gamma", row.gamma},
          {"validation", to_json(row.validation)},
          {"test", to_json(row.test)},
          {"objective", row.objective},
          {"observed_weight", row.observed_weight},
          {"certificate", to_json(row.certificate, true)},
          {"converged", row.converged},
          {"convergence", convergence},
          {"by_popularity", bins},
          {"seconds", row.seconds}};
}

StudyRow row_from_json(const Json& json) {
  StudyRow row;
  row.kind = parse_kind(json.at("kind").get<std::string>());
  row.lambda = json.at("lambda").get<double>();
  row.alpha = json.at("alpha").get<double>();
  row.dropout = json.at("dropout").get<double>();
  row.lambda_exponent =
      json.value("lambda_exponent", 0.0);  // older entries are of models without an exponent
  row.gamma = json.value("gamma", 0.0);
  row.validation = estimates_from_json(json.at("validation"));
  row.test = estimates_from_json(json.at("test"));
  row.objective = json.at("objective").get<double>();
  row.observed_weight = json.at("observed_weight").get<double>();
  row.certificate = certificate_from_json(json.at("certificate"));
  row.converged = json.at("converged").get<bool>();
  for (const Json& step : json.at("convergence"))
    row.convergence.push_back({.step = step.at(0).get<int>(),
                               .objective = optional_number(step.at(1)),
                               .certificate = optional_number(step.at(2))});
  for (const Json& bin : json.at("by_popularity"))
    row.by_popularity.push_back({.least = bin.at(0).get<std::int64_t>(),
                                 .most = bin.at(1).get<std::int64_t>(),
                                 .items = bin.at(2).get<std::int64_t>(),
                                 .targets = bin.at(3).get<std::int64_t>(),
                                 .recall = bin.at(4).get<double>()});
  row.seconds = json.at("seconds").get<double>();
  return row;
}

/// A comparison of either type.
template <class T>
Json comparison_json(const T& comparison) {
  return {{"kind", to_string(comparison.kind)},
          {"metric", comparison.metric},
          {"test", difference_json(comparison.test)}};
}
template <class T>
T comparison_from_json(const Json& json, const std::string& data, const StudyModel& model) {
  return {.data = data,
          .model = model,
          .kind = parse_kind(json.at("kind").get<std::string>()),
          .metric = json.at("metric").get<std::string>(),
          .test = difference_from_json(json.at("test"))};
}

}  // namespace

Json to_json(const Finals& finals) {
  Json json = {{"rows", Json::array()}, {"pairs", Json::array()}, {"against_popularity", Json::array()}};
  for (const StudyRow& row : finals.rows) json["rows"].push_back(journal_row(row));
  for (const StudyPair& pair : finals.pairs) json["pairs"].push_back(comparison_json(pair));
  for (const RowComparison& row : finals.against_popularity)
    json["against_popularity"].push_back(comparison_json(row));
  json["per_user"] = finals.per_user;
  return json;
}

Finals finals_from_json(const Json& json, const std::string& data, const StudyModel& model) {
  try {
    Finals finals;
    for (const Json& row : json.at("rows")) {
      finals.rows.push_back(row_from_json(row));
      finals.rows.back().data = data;
      finals.rows.back().model = model;
    }
    for (const Json& pair : json.at("pairs"))
      finals.pairs.push_back(comparison_from_json<StudyPair>(pair, data, model));
    for (const Json& row : json.at("against_popularity"))
      finals.against_popularity.push_back(comparison_from_json<RowComparison>(row, data, model));
    finals.per_user = json.at("per_user").get<std::vector<std::vector<double>>>();
    if (finals.per_user.size() != finals.rows.size())
      fail(ErrorKind::input, "an entry of the journal cannot be read (rows without their users)");
    return finals;
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::input, "an entry of the journal cannot be read ({})", error.what());
  }
}

}  // namespace poise
