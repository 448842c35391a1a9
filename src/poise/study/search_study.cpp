#include "poise/study/search_study.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "poise/search/best.hpp"
#include "poise/search/best_settings.hpp"
#include "poise/study/searched_data.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {
namespace {

bool other_than_0(const std::vector<double>& axis, bool automatic, double base) {
  return automatic ||
         (axis.empty() ? base != 0 : std::ranges::any_of(axis, [](double value) { return value != 0; }));
}

StudyModel model_of(const SearchSpace& space, const ModelParameters& setting) {
  StudyModel model{.key = std::string(family_name(setting.family)),
                   .weighting = std::string(scheme_name(setting.weighting.scheme))};
  if (setting.low_rank()) model.rank = setting.rank;
  if (setting.family == Family::awmf) model.key += fmt::format("/{}", regularizer_name(setting.regularizer));
  if (setting.family != Family::full_rank) return model;
  model.zero_diagonal = setting.zero_diagonal;
  model.neighbours = setting.neighbours;
  if (other_than_0(space.dropout, space.automatic.dropout, setting.dropout)) model.key += "/dropout";
  if (other_than_0(space.lambda_exponent, space.automatic.lambda_exponent, setting.lambda_exponent))
    model.key += "/lambda-exponent";
  if (space.automatic.feature_weight || !space.feature_weight.empty() ||
      setting.feature_weight != ModelParameters().feature_weight)
    model.key += "/feature-weight";
  return model;
}

bool same_setting(const ModelParameters& a, const ModelParameters& b) {
  return a.rank == b.rank && a.neighbours == b.neighbours && a.weighting.scheme == b.weighting.scheme;
}

std::vector<ModelParameters> of_setting(const std::vector<ModelParameters>& points,
                                        const ModelParameters& setting) {
  std::vector<ModelParameters> some;
  std::ranges::copy_if(points, std::back_inserter(some),
                       [&](const ModelParameters& point) { return same_setting(point, setting); });
  return some;
}

/// The flags that describe the search; free axes and defaults are left out.
std::vector<std::pair<std::string, std::string>> option_list(const SearchSpace& space,
                                                             const MeasureOptions& measure,
                                                             const std::string& grid) {
  const ModelParameters& base = space.base;
  std::vector<std::pair<std::string, std::string>> list = {
      {"--model", std::string(family_name(base.family))}};
  const auto put = [&](const char* flag, const auto& axis, bool automatic = false) {
    if (automatic) list.emplace_back(flag, "auto");
    if (!automatic && !axis.empty()) list.emplace_back(flag, fmt::format("{}", fmt::join(axis, ",")));
  };
  if (base.family == Family::awmf)
    list.emplace_back("--regularizer", std::string(regularizer_name(base.regularizer)));
  if (base.zero_diagonal) list.emplace_back("--zero-diagonal", "");
  if (base.low_rank()) put("--rank", space.rank.empty() ? std::vector{base.rank} : space.rank);
  put("--neighbours", space.neighbours);
  put("--lambda", space.lambda);
  put("--alpha", space.alpha);
  put("--dropout", space.dropout, space.automatic.dropout);
  put("--lambda-exponent", space.lambda_exponent, space.automatic.lambda_exponent);
  put("--feature-weight", space.feature_weight, space.automatic.feature_weight);
  std::vector<std::string_view> schemes;
  for (const Scheme scheme : space.scheme) schemes.push_back(scheme_name(scheme));
  put("--weighting", schemes);
  put("--gamma", space.gamma, space.automatic.gamma);
  put("--alpha-negative", space.alpha_negative, space.automatic.alpha_negative);
  // The model's other parameters.
  ModelParameters usual;
  usual.family = base.family;
  const std::map<std::string, std::string> usual_texts = option_texts(usual);
  for (const auto& [name, text] : option_texts(base)) {
    const std::string flag = "--" + name;
    const bool axis = name == "lambda" || name == "alpha";
    const auto found = usual_texts.find(name);
    if (axis || (found != usual_texts.end() && found->second == text)) continue;
    if (std::ranges::find(list, flag, &std::pair<std::string, std::string>::first) == list.end())
      list.emplace_back(flag, text);
  }
  std::vector<std::string> metrics;
  for (const Metric& metric : measure.metrics) metrics.push_back(to_string(metric));
  list.emplace_back("--grid", grid);
  if (space.method == SearchMethod::grid) list.emplace_back("--refine", fmt::format("{}", space.refine));
  if (!space.expand) list.emplace_back("--no-expand", "");
  if (space.most_points) list.emplace_back("--points", fmt::format("{}", *space.most_points));
  list.emplace_back("--metric", to_string(measure.choice));
  put("--metrics", metrics);
  list.emplace_back("--recall-denominator",
                    measure.denominator == RecallDenominator::min ? "min" : "targets");
  return list;
}

}  // namespace

std::vector<SearchedModel> searched_models(const Points& points, const SearchSpace& space,
                                           const SearchResult& result) {
  const bool best = space.method == SearchMethod::best;
  const std::vector<ModelParameters> settings = discrete_settings(space);
  std::vector<SearchedModel> models;
  auto next_profile = result.profiles.begin();
  for (std::size_t k = 0; k < settings.size(); ++k) {
    const ModelParameters& setting = settings[k];
    SearchResult part = best_of(points, of_setting(result.points, setting));
    part.complete = result.complete;
    part.missing = of_setting(result.missing, setting);
    if (best) {
      // Profiles are ordered by setting, each with all of its kinds.
      const std::size_t kinds = best_settings(space)[k].space.kinds.size();
      for (std::size_t kind = 0; kind < kinds && next_profile != result.profiles.end(); ++kind)
        part.profiles.push_back(*next_profile++);
      part.complete = result.complete || std::ranges::all_of(part.profiles, &SearchProfile::complete);
      choose_by_profiles(points, part);
    }
    const StudyModel model = model_of(space, setting);
    // A rank that was given twice was searched once.
    if (std::ranges::find(models, model, &SearchedModel::model) == models.end())
      models.push_back({.model = model, .result = std::move(part)});
  }
  return models;
}

StudyResults search_study(const std::string& name, Points& points, const AllRows& all_rows, Journal* journal,
                          const SearchSpace& space, const SearchResult& result, const std::string& grid,
                          const Execution& execution, std::optional<Points::Clock::time_point> until) {
  StudyResults results = no_results(points.options());
  results.of_search = true;
  results.options = option_list(space, points.options(), grid);
  SearchedData found(name, "", points, all_rows, journal, execution, until, results);
  for (const SearchedModel& each : searched_models(points, space, result))
    found.add(each.model, space, each.result);
  found.finish();
  correct_against_popularity(results);
  return results;
}

}  // namespace poise
