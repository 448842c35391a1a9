#include "poise/search/search_json.hpp"

#include <cmath>

#include "poise/search/field_json.hpp"
#include "poise/search/point_json.hpp"
#include "poise/train/parameter_table.hpp"
#include "poise/train/trained_json.hpp"

namespace poise {

using Json = nlohmann::ordered_json;

namespace {

Json parameters_json(const ModelParameters& parameters) {
  Json json = {{"lambda", parameters.lambda}, {"alpha", parameters.weighting.alpha}};
  json["weighting"] = scheme_name(parameters.weighting.scheme);
  if (parameters.low_rank()) json["rank"] = parameters.rank;
  if (parameters.family == Family::full_rank) {
    json["neighbours"] = parameters.neighbours;
    json["dropout"] = parameters.dropout;
    if (parameters.feature_weight != ModelParameters().feature_weight)
      json["feature_weight"] = parameters.feature_weight;
  }
  if (family_of(parameters).find("lambda-exponent") != nullptr)
    json["lambda_exponent"] = parameters.lambda_exponent;
  if (parameters.weighting.scheme == Scheme::inverse_popularity) json["gamma"] = parameters.weighting.gamma;
  if (parameters.weighting.alpha_negative != 1) json["alpha_negative"] = parameters.weighting.alpha_negative;
  return json;
}

Json best_json(const std::optional<ModelParameters>& point, const Points& points) {
  if (!point) return nullptr;
  Json json = point_json(points.at(*point), points.options().choice);
  json.erase("seconds");
  return json;
}

/// The best metric over lambda against alpha. `paired_stderr` is the standard error of the difference from
/// the best unweighted point, or from the kind's own best if there is none.
Json profile_json(const SearchProfile& profile, const SearchResult& result, const Points& points) {
  const std::string metric = to_string(points.options().choice);
  Json json = {{"kind", to_string(profile.kind)},
               {"complete", profile.complete},
               {"interior", profile.interior},
               {"best", best_json(profile.best, points)},
               {"metric", metric},
               {"curve", Json::array()}};
  const std::optional<ModelParameters>& origin = result.unweighted ? result.unweighted : profile.best;
  for (const ModelParameters& point : profile.curve) {
    const PointResult& measured = points.at(point);
    Json entry = parameters_json(point);
    for (const auto& [name, estimate] : measured.figures(points.options().choice)) {
      if (name != metric) continue;
      entry["mean"] = estimate.mean;
      entry["stderr"] = estimate.standard_error ? Json(*estimate.standard_error) : Json();
    }
    entry["paired_stderr"] = Json();
    if (origin)
      entry["paired_stderr"] =
          std::hypot(points.paired_error(point, *origin), measured.cut ? measured.cut->error : 0);
    if (measured.cut) entry["cut"] = true;
    json["curve"].push_back(entry);
  }
  return json;
}

}  // namespace

Json point_json(const PointResult& result, const Metric& choice) {
  Json json = parameters_json(result.parameters);
  json.update(to_json(result));
  if (result.cut) {
    json["validation"] = to_json(result.figures(choice));
    json["cut"] = {{"users", result.cut->users}, {"of", result.sample.users}, {"error", result.cut->error}};
  }
  return json;
}

Json chosen_json(const ModelParameters& parameters, const Chosen& chosen, SearchMethod method) {
  Json json = trained_json(parameters, chosen.trained);
  if (method == SearchMethod::best) {
    json["dropout"] = parameters.dropout;
    json["lambda_exponent"] = parameters.lambda_exponent;
    json["gamma"] = parameters.weighting.gamma;
  }
  if (!chosen.validation.empty()) json["validation"] = to_json(chosen.validation);
  if (!chosen.test.empty()) json["test"] = to_json(chosen.test);
  return json;
}

Json search_json(const SearchResult& result, const Points& points, const Json& best) {
  Json json = {{"complete", result.complete}, {"best", best}};
  if (result.best && !best.is_null()) put_parameters(json["best"], *result.best, Reported::all);
  json["best_unweighted"] = best_json(result.unweighted, points);
  json["best_weighted"] = best_json(result.weighted, points);
  json["best_down_weighted"] = best_json(result.down_weighted, points);
  json["points"] = Json::array();
  for (const ModelParameters& point : result.points)
    json["points"].push_back(point_json(points.at(point), points.options().choice));
  json["scorings"] = result.scorings.done;
  json["scorings_spared"] = result.scorings.spared;
  if (!result.profiles.empty()) {
    json["profiles"] = Json::array();
    for (const SearchProfile& profile : result.profiles)
      json["profiles"].push_back(profile_json(profile, result, points));
  }
  if (!result.complete) {
    json["missing"] = Json::array();
    for (const ModelParameters& point : result.missing) json["missing"].push_back(option_texts(point));
  }
  return json;
}

}  // namespace poise
