#include "poise/search/search_json.hpp"

#include "poise/search/point_json.hpp"
#include "poise/train/trained_json.hpp"

namespace poise {

using Json = nlohmann::ordered_json;

namespace {

Json best_json(const std::optional<ModelParameters>& point, const Points& points) {
  if (!point) return nullptr;
  Json json = point_json(points.at(*point));
  json.erase("seconds");
  return json;
}

}  // namespace

Json point_json(const PointResult& result) {
  const ModelParameters& parameters = result.parameters;
  Json json = {{"lambda", parameters.lambda}, {"alpha", parameters.weighting.alpha}};
  json["weighting"] = scheme_name(parameters.weighting.scheme);
  if (parameters.low_rank()) json["rank"] = parameters.rank;
  if (parameters.family == Family::full_rank) json["dropout"] = parameters.dropout;
  if (parameters.has_lambda_exponent()) json["lambda_exponent"] = parameters.lambda_exponent;
  json.update(to_json(result));
  return json;
}

Json chosen_json(const ModelParameters& parameters, const Trained& trained, const Points& points,
                 const Execution& execution) {
  const Dataset& dataset = points.trainer().data().dataset;
  Json json = trained_json(parameters, trained);
  for (const char* const name : {"validation", "test"}) {
    const std::optional<HeldOut>& part = name == std::string_view("test") ? dataset.test : dataset.validation;
    if (!part || part->targets.entries() == 0) continue;
    json[name] = to_json(
        estimates_of(evaluate(scorer_of(trained.model), dataset.histories(*part), part->targets.view(),
                              column_counts(dataset.train.view()), points.options().evaluation(), execution,
                              &points.trainer().backend())));
  }
  return json;
}

Json search_json(const SearchResult& result, const Points& points, const Json& best) {
  Json json = {{"complete", true}, {"best", best}};
  if (result.best->has_lambda_exponent()) json["best"]["lambda_exponent"] = result.best->lambda_exponent;
  json["best_unweighted"] = best_json(result.unweighted, points);
  json["best_weighted"] = best_json(result.weighted, points);
  json["best_down_weighted"] = best_json(result.down_weighted, points);
  json["points"] = Json::array();
  for (const ModelParameters& point : result.points) json["points"].push_back(point_json(points.at(point)));
  return json;
}

Json unfinished_json(const TimeIsUp& up, const SearchSpace& space, const Points& points) {
  Json json = {{"complete", false}, {"best", nullptr}, {"points", Json::array()}, {"missing", Json::array()}};
  for (const ModelParameters& point : first_points(space)) {
    const PointResult* const known = points.find(point);
    if (known != nullptr) json["points"].push_back(point_json(*known));
  }
  for (const ModelParameters& point : up.missing) json["missing"].push_back(option_texts(point));
  return json;
}

}  // namespace poise
