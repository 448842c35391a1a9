#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "poise/report/html_parts.hpp"
#include "poise/report/text.hpp"
#include "poise/search/field_json.hpp"

namespace poise::report {

namespace {

using Json = nlohmann::ordered_json;

// Models regardless of their rank: a plot has one panel for each.
class Numbering {
 public:
  explicit Numbering(const StudyResults& results) {
    for (const StudyData& part : results.data) data_.push_back(part.name);
  }

  /// What a row, a point or a profile is of.
  Json place(const RowName& name) {
    const StudyModel& model = name.model;
    StudyModel family = model;
    family.rank.reset();
    auto known = std::ranges::find(models_, family);
    if (known == models_.end()) known = models_.insert(models_.end(), family);
    return {{"data", std::ranges::find(data_, name.data) - data_.begin()},
            {"model", known - models_.begin()},
            {"rank", model.rank ? Json(*model.rank) : Json()},
            {"kind", to_string(name.kind)}};
  }

  [[nodiscard]] Json model_list() const {
    Json names = Json::array();
    for (const StudyModel& model : models_)
      names.push_back({{"name", model_name(model)}, {"variant", variant_name(model)}});
    return names;
  }

 private:
  std::vector<std::string> data_;
  std::vector<StudyModel> models_;
};

/// The searched values that are not 0, beside lambda and alpha, which come first.
void add_others(Json& object, const SearchedValues& values) {
  each_field(fields<SearchedValues>, values, [&](const std::string& key, double value) {
    if (key == "alpha" || key == "lambda" || value == 0) return;
    object[key == "lambda_exponent" ? "exponent" : key] = json_number(value);
  });
}

Json row_json(const StudyRow& row, const StudyResults& results, Numbering& numbering) {
  Json object = numbering.place(row);
  object["alpha"] = json_number(row.alpha);
  object["lambda"] = json_number(row.lambda);
  object["test"] = Json::array();
  for (const std::string& metric : results.metrics) {
    // Validation figures if no row has test figures.
    const Estimate* estimate = find(without_test(results) ? row.validation : row.test, metric);
    object["test"].push_back(
        estimate ? Json::array({json_number(estimate->mean), json_number(estimate->standard_error)})
                 : Json());
  }
  object["convergence"] = field_json(row.convergence);
  object["popularity"] = Json::array();
  for (const PopularityBin& bin : row.by_popularity)
    object["popularity"].push_back(Json::array({bin.least, bin.most, bin.targets, json_number(bin.recall)}));
  return object;
}

Json point_json(const StudyPoint& point, const StudyResults& results, Numbering& numbering) {
  Json object = numbering.place(point);
  object["lambda"] = json_number(point.lambda);
  object["alpha"] = json_number(point.alpha);
  add_others(object, point);
  const Estimate* estimate = find(point.validation, results.choice);
  object["value"] = estimate ? json_number(estimate->mean) : Json();
  if (point.cut) object["cut"] = true;
  return object;
}

Json profile_json(const StudyProfile& profile, Numbering& numbering) {
  Json object = numbering.place(profile);
  object["complete"] = profile.complete;
  object["interior"] = profile.interior;
  object["alpha"] = json_number(profile.alpha);
  object["lambda"] = json_number(profile.lambda);
  add_others(object, profile);
  object["curve"] = Json::array();
  for (const ProfilePoint& point : profile.curve) {
    // If its error is unknown the page draws none.
    if (!std::isfinite(point.validation.mean) || !(point.alpha >= 0)) continue;
    Json on_curve = {{"alpha", point.alpha},
                     {"lambda", json_number(point.lambda)},
                     {"value", point.validation.mean},
                     {"error", json_number(point.paired_error)}};
    if (point.cut) on_curve["cut"] = true;
    add_others(on_curve, point);
    object["curve"].push_back(std::move(on_curve));
  }
  return object;
}

}  // namespace

std::string page_data(const StudyResults& results) {
  Numbering numbering(results);
  Json rows = Json::array();
  Json baselines = Json::array();
  for (const StudyRow& row : results.rows)
    (is_baseline(row.model) ? baselines : rows).push_back(row_json(row, results, numbering));
  Json points = Json::array();
  for (const StudyPoint& point : results.points) points.push_back(point_json(point, results, numbering));
  Json profiles = Json::array();
  for (const StudyProfile& profile : results.profiles) profiles.push_back(profile_json(profile, numbering));
  Json names = Json::array();
  for (const StudyData& part : results.data) names.push_back(part.name);
  Json metrics = Json::array();
  for (const std::string& metric : results.metrics) metrics.push_back(metric_name(metric));
  const Json page = {
      {"data", std::move(names)},
      {"models", numbering.model_list()},
      {"metrics", std::move(metrics)},
      {"choice", metric_name(results.choice)},
      {"choice_index", std::ranges::find(results.metrics, results.choice) - results.metrics.begin()},
      {"cutoff", results.popularity_cutoff},
      {"rows", std::move(rows)},
      {"baselines", std::move(baselines)},
      {"points", std::move(points)},
      {"profiles", std::move(profiles)}};
  // "<" occurs in JSON inside strings only, and could end the script element there.
  std::string text;
  for (const char c : page.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace poise::report
