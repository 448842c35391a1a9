#include <nlohmann/json.hpp>

#include "poise/search/field_json.hpp"
#include "poise/study/results.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {

namespace {

using Json = nlohmann::ordered_json;

// A name may come from a folder and hold any bytes; JSON is UTF-8.
std::string text(const std::string& value) {
  return Json::parse(Json(value).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

bool is_trained(const StudyModel& model) { return model.key != "popularity"; }

Json identity(const std::string& data, const StudyModel& model) {
  return {{"data", text(data)},
          {"model", text(model.key)},
          {"rank", model.rank ? Json(*model.rank) : Json()},
          {"zero_diagonal", model.zero_diagonal},
          {"neighbours", model.neighbours},
          {"weighting", is_trained(model) ? Json(text(model.weighting)) : Json()}};
}

Json identity(const RowName& name) {
  Json object = identity(name.data, name.model);
  object["kind"] = to_string(name.kind);
  return object;
}

Json regularizer(const StudyModel& model) {
  const std::size_t slash = model.key.find('/');
  return slash == std::string::npos ? Json() : Json(text(model.key.substr(slash + 1)));
}

template <HasFields T>
void put(Json& object, const T& value) {
  each_field(fields<T>, value, [&](const char* key, const auto& field) { object[key] = field_json(field); });
}

/// Structs as objects.
template <HasFields T>
Json objects(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) put(array.emplace_back(), value);
  return array;
}

Json to_json(const StudyRow& row) {
  Json object = identity(row.data, row.model);
  object["regularizer"] = regularizer(row.model);
  object["kind"] = to_string(row.kind);
  object["weighted"] = row.kind != RowKind::unweighted;
  put(object, row);
  object["convergence"] = objects(row.convergence);
  object["by_popularity"] = objects(row.by_popularity);
  if (row.model.rank) object["certificate"].erase("worst_column");
  if (is_trained(row.model)) {
    object["search"] = {{"complete", row.search_complete}, {"interior", row.interior}};
  } else {
    const auto leave = [&](const char* key, const auto&) { object[key] = nullptr; };
    each_field(fields<SearchedValues>, row, leave);
    for (const char* const key : {"objective", "observed_weight", "certificate"}) object[key] = nullptr;
  }
  object["final"] = row.final;
  return object;
}

Json to_json(const ProfilePoint& point) {
  Json object;
  put<SearchedValues>(object, point);
  object["mean"] = json_number(point.validation.mean);
  object["stderr"] = json_number(point.validation.standard_error);
  object["paired_stderr"] = json_number(point.paired_error);
  if (point.cut) object["cut"] = true;
  return object;
}

Json to_json(const StudyPoint& point) {
  Json object = identity(point);
  put(object, point);
  if (point.model.rank) object["certificate"].erase("worst_column");
  if (point.cut) object["cut"] = true;
  return object;
}

Json to_json(const RowDifference& difference) {
  const PairedDifference& test = difference.test;
  Json object = identity(difference);
  object["metric"] = text(difference.metric);
  object["users"] = test.users;
  object["difference"] = json_number(test.difference);
  object["interval"] = {json_number(test.low), json_number(test.high)};
  object["p"] = json_number(test.p);
  return object;
}

Json to_json(const StudyPair& pair) {
  Json object = to_json(static_cast<const RowDifference&>(pair));
  object["complete"] = pair.complete;
  return object;
}

Json to_json(const RowComparison& comparison) {
  Json object = to_json(static_cast<const RowDifference&>(comparison));
  object["corrected_p"] = json_number(comparison.corrected_p);
  return object;
}

Json to_json(const StudyConclusion& conclusion) {
  return {{"data", text(conclusion.data)},
          {"rank", conclusion.rank ? Json(*conclusion.rank) : Json()},
          {"sentence", text(conclusion.sentence)},
          {"overall", conclusion.overall}};
}

Json to_json(const UnfinishedSearch& search) {
  Json object = identity(search.data, search.model);
  object["state"] = to_string(search.state);
  return object;
}

Json to_json(const StudyData& data) {
  return {{"name", text(data.name)},
          {"checksum", text(data.checksum)},
          {"users", data.users},
          {"items", data.items},
          {"interactions", data.interactions},
          {"train_users", data.train_users},
          {"train_interactions", data.train_interactions},
          {"validation_users", data.validation_users},
          {"test_users", data.test_users},
          {"paper_data", data.paper_data.empty() ? Json() : Json(text(data.paper_data))},
          {"validation_from_training", data.validation_from_training}};
}

Json to_json(const StudyProfile& profile);

template <class T>
Json list(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(to_json(value));
  return array;
}

Json to_json(const StudyProfile& profile) {
  Json object = identity(profile);
  object["complete"] = profile.complete;
  object["interior"] = profile.interior;
  put<SearchedValues>(object, profile);
  object["curve"] = list(profile.curve);
  return object;
}

}  // namespace

Json to_json(const StudyResults& results) {
  Json options = Json::object();
  for (const auto& [name, value] : results.options) options[text(name)] = text(value);
  Json metrics = Json::array();
  for (const std::string& metric : results.metrics) metrics.push_back(text(metric));
  Json rows = list(results.rows);
  for (std::size_t k = 0; k < rows.size(); ++k)
    rows[k]["best_on_validation"] = best_on_validation(results, results.rows[k].data) == &results.rows[k];
  Json object = {{"version", text(results.version)}, {"complete", results.complete}};
  if (!results.complete) {
    object["unfinished"] = list(results.unfinished);
    object["missing"] = Json::array();
    for (const ModelParameters& point : results.missing) object["missing"].push_back(option_texts(point));
  }
  object.update({{"metrics", std::move(metrics)},
                 {"choice", text(results.choice)},
                 {"popularity_cutoff", results.popularity_cutoff},
                 {"conclusions", list(results.conclusions)},
                 {"data", list(results.data)},
                 {"rows", std::move(rows)},
                 {"pairs", list(results.pairs)},
                 {"beyond_accuracy_pairs", list(results.beyond_pairs)},
                 {"against_popularity", list(results.against_popularity)},
                 {"against_best", list(results.against_best)},
                 {"points", list(results.points)},
                 {"profiles", list(results.profiles)},
                 {"options", std::move(options)},
                 {"seconds", json_number(results.seconds)}});
  return object;
}

}  // namespace poise
