#include <nlohmann/json.hpp>

#include "poise/base/json_number.hpp"
#include "poise/search/point_json.hpp"
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

Json to_json(const Certificate& certificate, const StudyModel& model) {
  return is_trained(model) ? poise::to_json(certificate, !model.rank) : Json();
}

Json identity(const std::string& data, const StudyModel& model) {
  return {{"data", text(data)},
          {"model", text(model.key)},
          {"rank", model.rank ? Json(*model.rank) : Json()},
          {"zero_diagonal", model.zero_diagonal},
          {"weighting", is_trained(model) ? Json(text(model.weighting)) : Json()}};
}

Json regularizer(const StudyModel& model) {
  const std::size_t slash = model.key.find('/');
  return slash == std::string::npos ? Json() : Json(text(model.key.substr(slash + 1)));
}

Json to_json(const ConvergenceStep& step) {
  return {{"step", step.step},
          {"objective", json_number(step.objective)},
          {"certificate", json_number(step.certificate)}};
}

Json to_json(const PopularityBin& bin) {
  return {{"least", bin.least},
          {"most", bin.most},
          {"items", bin.items},
          {"targets", bin.targets},
          {"recall", json_number(bin.recall)}};
}

Json to_json(const StudyRow& row);
Json to_json(const StudyPoint& point);
Json to_json(const ProfilePoint& point);
Json to_json(const StudyProfile& profile);
Json to_json(const StudyPair& pair);
Json to_json(const RowComparison& comparison);
Json to_json(const StudyConclusion& conclusion);
Json to_json(const UnfinishedSearch& search);
Json to_json(const StudyData& data);

template <class T>
Json list(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(to_json(value));
  return array;
}

Json to_json(const StudyRow& row) {
  const auto trained = [&](double value) { return is_trained(row.model) ? json_number(value) : Json(); };
  Json object = identity(row.data, row.model);
  object["regularizer"] = regularizer(row.model);
  object["kind"] = to_string(row.kind);
  object["weighted"] = row.kind != RowKind::unweighted;
  object["alpha"] = trained(row.alpha);
  object["lambda"] = trained(row.lambda);
  object["dropout"] = trained(row.dropout);
  object["lambda_exponent"] = trained(row.lambda_exponent);
  object["gamma"] = trained(row.gamma);
  object["validation"] = to_json(row.validation);
  object["test"] = to_json(row.test);
  object["objective"] = trained(row.objective);
  object["observed_weight"] = trained(row.observed_weight);
  object["certificate"] = to_json(row.certificate, row.model);
  object["converged"] = row.converged;
  object["convergence"] = list(row.convergence);
  object["by_popularity"] = list(row.by_popularity);
  object["seconds"] = json_number(row.seconds);
  if (is_trained(row.model))
    object["search"] = {{"complete", row.search_complete}, {"interior", row.interior}};
  object["final"] = row.final;
  return object;
}

Json to_json(const ProfilePoint& point) {
  Json object = {{"alpha", json_number(point.alpha)},
                 {"lambda", json_number(point.lambda)},
                 {"dropout", json_number(point.dropout)},
                 {"lambda_exponent", json_number(point.lambda_exponent)},
                 {"gamma", json_number(point.gamma)},
                 {"mean", json_number(point.validation.mean)},
                 {"stderr", json_number(point.validation.standard_error)},
                 {"paired_stderr", json_number(point.paired_error)}};
  if (point.cut) object["cut"] = true;
  return object;
}

Json to_json(const StudyProfile& profile) {
  Json object = identity(profile.data, profile.model);
  object["kind"] = to_string(profile.kind);
  object["complete"] = profile.complete;
  object["interior"] = profile.interior;
  object["alpha"] = json_number(profile.alpha);
  object["lambda"] = json_number(profile.lambda);
  object["dropout"] = json_number(profile.dropout);
  object["lambda_exponent"] = json_number(profile.lambda_exponent);
  object["gamma"] = json_number(profile.gamma);
  object["curve"] = list(profile.curve);
  return object;
}

Json to_json(const StudyPoint& point) {
  Json object = identity(point.data, point.model);
  object["kind"] = to_string(point.kind);
  object["alpha"] = json_number(point.alpha);
  object["lambda"] = json_number(point.lambda);
  object["dropout"] = json_number(point.dropout);
  object["lambda_exponent"] = json_number(point.lambda_exponent);
  object["gamma"] = json_number(point.gamma);
  object["validation"] = to_json(point.validation);
  object["objective"] = json_number(point.objective);
  object["certificate"] = to_json(point.certificate, point.model);
  object["seconds"] = json_number(point.seconds);
  if (point.cut) object["cut"] = true;
  return object;
}

void add(Json& object, RowKind kind, const std::string& metric, const PairedDifference& test) {
  object["kind"] = to_string(kind);
  object["metric"] = text(metric);
  object["users"] = test.users;
  object["difference"] = json_number(test.difference);
  object["interval"] = {json_number(test.low), json_number(test.high)};
  object["p"] = json_number(test.p);
}

Json to_json(const StudyPair& pair) {
  Json object = identity(pair.data, pair.model);
  add(object, pair.kind, pair.metric, pair.test);
  object["complete"] = pair.complete;
  return object;
}

Json to_json(const RowComparison& comparison) {
  Json object = identity(comparison.data, comparison.model);
  add(object, comparison.kind, comparison.metric, comparison.test);
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
                 {"against_popularity", list(results.against_popularity)},
                 {"against_best", list(results.against_best)},
                 {"points", list(results.points)},
                 {"profiles", list(results.profiles)},
                 {"options", std::move(options)},
                 {"seconds", json_number(results.seconds)}});
  return object;
}

}  // namespace poise
