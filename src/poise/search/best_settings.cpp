#include "poise/search/best_settings.hpp"

#include <algorithm>
#include <set>

namespace poise {
namespace {

/// The axes' ranges if they are searched without a given range, and their starts.
constexpr double most_dropout = 0.9;
constexpr double dropout_spacing = 0.05;
constexpr double usual_dropout = 0.3;
constexpr double least_exponent = -0.5;
constexpr double most_exponent = 1.5;
constexpr double exponent_spacing = 0.125;
constexpr double most_gamma = 1.5;
constexpr double gamma_spacing = 0.125;
constexpr double usual_gamma = 0.5;
constexpr int first_step = 3;
/// What has to be proven of full-rank models while searching: of weights below 1 what is proven of a float32
/// model may be 1 / alpha^2 times the truth. The solver's own aim stays where it is
/// (model/full_rank/columns.cpp).
constexpr double searching_proof = 1e-4;
constexpr double loosest_proof = 0.1;

bool is_free(const std::vector<double>& range, bool automatic) { return automatic || range.size() > 1; }

Axis alpha_axis_of(const SearchSpace& space, Scheme scheme) {
  if (scheme == Scheme::none) return fixed_axis(1);
  if (space.alpha.size() == 1) return fixed_axis(space.alpha.front());
  return traits(scheme).slope ? slope_axis(space.alpha) : alpha_axis(space.alpha);
}

}  // namespace

ModelParameters BestSetting::at(const Place& place) const {
  ModelParameters point = base;
  point.lambda = space.axes[0].value[place[0]];
  point.weighting.alpha = space.axes[1].value[place[1]];
  for (std::size_t k = 0; k < parameters.size(); ++k)
    parameters[k](point) = space.axes[k + 2].value[place[k + 2]];
  if (point.family == Family::full_rank) {
    const double alpha =
        point.weighting.scheme == Scheme::constant ? std::min(1.0, point.weighting.alpha) : 1;
    point.tolerance = std::max(base.tolerance, std::min(loosest_proof, searching_proof / (alpha * alpha)));
  }
  return point;
}
std::vector<BestSetting> best_settings(const SearchSpace& space) {
  std::vector<BestSetting> settings;
  for (const ModelParameters& base : discrete_settings(space)) {
    const Scheme scheme = base.weighting.scheme;
    BestSetting setting{.base = base, .space = {}, .parameters = {}};
    std::vector<Axis>& axes = setting.space.axes;
    axes.push_back(space.lambda.size() == 1 ? fixed_axis(space.lambda.front()) : lambda_axis(space.lambda));
    axes.push_back(alpha_axis_of(space, scheme));
    setting.space.kinds = kinds_of(axes[1], traits(scheme).unweighted_alpha);
    const auto put = [&](double& (*parameter)(ModelParameters&), const std::vector<double>& range,
                         const Axis& axis) {
      setting.parameters.push_back(parameter);
      axes.push_back(range.size() == 1 ? fixed_axis(range.front()) : axis);
    };
    if (!space.dropout.empty() || space.automatic.dropout)
      put([](ModelParameters& each) -> double& { return each.dropout; }, space.dropout,
          even_axis(space.dropout, 0, most_dropout, dropout_spacing, usual_dropout, first_step));
    if (!space.lambda_exponent.empty() || space.automatic.lambda_exponent)
      put([](ModelParameters& each) -> double& { return each.lambda_exponent; }, space.lambda_exponent,
          even_axis(space.lambda_exponent, least_exponent, most_exponent, exponent_spacing, 0, first_step));
    if (!space.feature_weight.empty() || space.automatic.feature_weight)
      put([](ModelParameters& each) -> double& { return each.feature_weight; }, space.feature_weight,
          feature_axis(space.feature_weight));
    if (!space.alpha_negative.empty() || space.automatic.alpha_negative)
      put([](ModelParameters& each) -> double& { return each.weighting.alpha_negative; },
          space.alpha_negative, dislike_axis(space.alpha_negative));
    if (scheme == Scheme::inverse_popularity && is_free(space.gamma, space.automatic.gamma)) {
      put([](ModelParameters& each) -> double& { return each.weighting.gamma; }, space.gamma,
          even_axis(space.gamma, 0, most_gamma, gamma_spacing, usual_gamma, first_step));
    } else if (!space.gamma.empty()) {
      setting.base.weighting.gamma = space.gamma.front();
    }
    settings.push_back(std::move(setting));
  }
  return settings;
}

std::vector<ModelParameters> first_best_points(const SearchSpace& space) {
  std::vector<ModelParameters> points;
  for (const BestSetting& setting : best_settings(space)) {
    const std::vector<Axis>& axes = setting.space.axes;
    Place place;
    for (const Axis& axis : axes) place.push_back(axis.start);
    std::set<int> lambdas;
    for (const int step : {-axes[0].step, 0, axes[0].step})
      lambdas.insert(std::clamp(axes[0].start + step, 0, axes[0].nodes() - 1));
    for (const ProfileKind& kind : setting.space.kinds) {
      std::set<int> alphas(kind.first.begin(), kind.first.end());
      if (alphas.empty()) alphas.insert(std::clamp(axes[1].start, kind.low, kind.high));
      for (place[1] = kind.low; place[1] <= kind.high; ++place[1]) {
        if (!alphas.contains(place[1])) continue;
        for (const int lambda : lambdas) {
          place[0] = lambda;
          points.push_back(setting.at(place));
        }
      }
    }
  }
  return points;
}

}  // namespace poise
