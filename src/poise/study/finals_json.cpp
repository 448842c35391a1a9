#include <algorithm>
#include <cmath>
#include <limits>

#include "poise/base/error.hpp"
#include "poise/comm/packed.hpp"
#include "poise/search/field_json.hpp"
#include "poise/study/finals.hpp"

namespace poise {
namespace {

using Json = nlohmann::ordered_json;

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
void write(Json& json, const T& object) {
  each_field(fields<T>, object, [&](const char* key, const auto& value) { json[key] = field_json(value); });
}

Json journal_row(const StudyRow& row) {
  Json json = {{"kind", to_string(row.kind)}, {"lambda", {}}};  // of the values lambda comes first
  write(json, row);
  return json;
}

StudyRow row_from_json(const Json& json, const std::string& data, const StudyModel& model) {
  StudyRow row{{data, model, parse_row_kind(json.at("kind").get<std::string>())}, {}};
  each_field(fields<StudyRow>, row, [&](std::string_view key, auto& value) {
    // Older entries are of plain models, and of accuracy alone.
    const bool newer = key == "lambda_exponent" || key == "gamma" || key == "feature_weight" ||
                       key == "alpha_negative" || key == "beyond_accuracy";
    if (!newer || json.contains(key)) read_field(json.at(key), value);
  });
  return row;
}

Json difference_json(const RowDifference& difference) {
  Json json = {{"kind", to_string(difference.kind)}, {"metric", difference.metric}};
  write(json["test"], difference.test);
  return json;
}

RowDifference difference_from_json(const Json& json, const std::string& data, const StudyModel& model) {
  RowDifference difference{{data, model, parse_row_kind(json.at("kind").get<std::string>())},
                           json.at("metric").get<std::string>()};
  PairedDifference& test = difference.test;
  each_field(fields<PairedDifference>, test,
             [&](const char* key, auto& value) { read_field(json.at("test").at(key), value); });
  // Infinite ends of an interval are written as null.
  if (std::isnan(test.low)) test.low = -infinity;
  if (std::isnan(test.high)) test.high = infinity;
  return difference;
}

}  // namespace

RowKind parse_row_kind(const std::string& name) {
  for (const RowKind kind : {RowKind::unweighted, RowKind::weighted, RowKind::down_weighted}) {
    if (to_string(kind) == name) return kind;
  }
  fail(ErrorKind::input, "an entry of the journal has rows of an unknown kind");
}

Json to_json(const Finals& finals) {
  Json json = {{"rows", Json::array()}, {"pairs", Json::array()}, {"against_popularity", Json::array()}};
  for (const StudyRow& row : finals.rows) json["rows"].push_back(journal_row(row));
  for (const StudyPair& pair : finals.pairs) json["pairs"].push_back(difference_json(pair));
  for (const RowComparison& row : finals.against_popularity)
    json["against_popularity"].push_back(difference_json(row));
  json["beyond_accuracy_pairs"] = Json::array();
  for (const StudyPair& pair : finals.beyond_pairs)
    json["beyond_accuracy_pairs"].push_back(difference_json(pair));
  json["per_user"] = finals.per_user;
  return json;
}

std::string message_of(const MeasuredRow& measured) {
  const EvaluationResult& test = measured.test;
  std::vector<std::string> metrics;
  for (const Metric& metric : test.per_user_metrics) metrics.push_back(to_string(metric));
  const MatrixView<const double> values = test.per_user.view();
  return packed({journal_row(measured.row).dump(), Json(metrics).dump(),
                 bytes_of(std::vector<double>(values.data, values.data + values.rows * values.cols))});
}

MeasuredRow measured_row_in(const std::string& message, const std::string& data, const StudyModel& model) {
  const std::vector<std::string> parts = unpacked(message);
  MeasuredRow measured{.row = row_from_json(Json::parse(parts.at(0)), data, model), .test = {}};
  for (const auto& metric : Json::parse(parts.at(1)).get<std::vector<std::string>>())
    measured.test.per_user_metrics.push_back(parse_metric(metric));
  const std::vector<double> values = values_of<double>(parts.at(2));
  const auto columns = std::ssize(measured.test.per_user_metrics);
  measured.test.per_user = Matrix<double>(columns == 0 ? 0 : std::ssize(values) / columns, columns);
  std::ranges::copy(values, measured.test.per_user.view().data);
  return measured;
}

Finals finals_from_json(const Json& json, const std::string& data, const StudyModel& model) {
  try {
    Finals finals;
    for (const Json& row : json.at("rows")) finals.rows.push_back(row_from_json(row, data, model));
    for (const Json& pair : json.at("pairs"))
      finals.pairs.push_back({difference_from_json(pair, data, model)});
    for (const Json& pair : json.value("beyond_accuracy_pairs", Json::array()))
      finals.beyond_pairs.push_back({difference_from_json(pair, data, model)});
    for (const Json& row : json.at("against_popularity"))
      finals.against_popularity.push_back({difference_from_json(row, data, model)});
    finals.per_user = json.at("per_user").get<std::vector<std::vector<double>>>();
    if (finals.per_user.size() != finals.rows.size())
      fail(ErrorKind::input, "an entry of the journal cannot be read (rows without their users)");
    return finals;
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::input, "an entry of the journal cannot be read ({})", error.what());
  }
}

}  // namespace poise
