#include "poise/search/best.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "poise/base/error.hpp"

namespace poise {
namespace {

/// What the axes are when they are asked for and no range is given, and where they begin.
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

bool is_free(const std::vector<double>& range, bool automatic) { return automatic || range.size() > 1; }

Axis alpha_axis_of(const SearchSpace& space, Scheme scheme) {
  if (scheme == Scheme::none) return fixed_axis(1);
  if (space.alpha.size() == 1) return fixed_axis(space.alpha.front());
  const bool slope = scheme == Scheme::linear || scheme == Scheme::log;
  return slope ? slope_axis(space.alpha) : alpha_axis(space.alpha);
}

/// The alpha whose weights are all 1; none for a scheme that has no such alpha.
std::optional<double> unweighted_alpha(Scheme scheme) {
  switch (scheme) {
    case Scheme::none:
    case Scheme::constant:
      return 1;
    case Scheme::linear:
    case Scheme::log:
      return 0;
    default:
      return {};
  }
}

/// A setting's search, from complete rounds alone.
struct Running {
  BestSetting setting;
  ProfileScores scores = {};
  std::vector<Profile> profiles = {};
};

struct Wanted {
  std::size_t setting;
  Place place;
};

class BestSearch {
 public:
  BestSearch(Points& points, const SearchSpace& space) : points_(points), space_(space) {
    for (BestSetting& setting : best_settings(space)) running_.push_back({.setting = std::move(setting)});
    for (Running& each : running_) {
      each.scores.noise = [this, &each](const Place& a, const Place& b) {
        return points_.paired_error(each.setting.at(a), each.setting.at(b));
      };
    }
  }

  SearchResult run() {
    for (;;) {
      const std::vector<Wanted> round = next();
      if (round.empty()) break;
      if (!measure(round)) return result(false);
    }
    return result(true);
  }

 private:
  std::vector<Wanted> next() {
    std::vector<Wanted> round;
    for (std::size_t k = 0; k < running_.size(); ++k) {
      Running& each = running_[k];
      each.profiles = profiles_of(each.setting.space, each.scores);
      if (round.size() >= round_size) continue;
      for (Place& place : next_round(each.profiles)) round.push_back({k, std::move(place)});
    }
    return round;
  }

  [[nodiscard]] ModelParameters parameters(const Wanted& wanted) const {
    return running_[wanted.setting].setting.at(wanted.place);
  }

  /// Whether all of the round could be measured.
  bool measure(const std::vector<Wanted>& round) {
    std::vector<ModelParameters> batch;
    for (const Wanted& each : round) batch.push_back(parameters(each));
    std::vector<ModelParameters> refused;
    if (space_.most_points && tried_.size() + batch.size() > *space_.most_points) {
      const auto left = static_cast<std::ptrdiff_t>(*space_.most_points - tried_.size());
      refused.assign(batch.begin() + left, batch.end());
      batch.resize(left);
    }
    try {
      points_.measure(batch, space_.both_diagonals);
    } catch (TimeIsUp& up) {
      missing_ = std::move(up.missing);
    }
    for (const ModelParameters& point : batch) {
      if (points_.find(point) != nullptr) tried_.push_back(point);
    }
    missing_.insert(missing_.end(), refused.begin(), refused.end());
    if (!missing_.empty()) return false;
    for (const Wanted& each : round) {
      const PointResult& point = points_.at(parameters(each));
      running_[each.setting].scores.score[each.place] = point.score(points_.options().choice);
    }
    return true;
  }

  SearchResult result(bool complete) {
    std::ranges::stable_sort(tried_, {}, [](const ModelParameters& point) {
      return std::tuple(point.rank, static_cast<int>(point.weighting.scheme), point.weighting.alpha,
                        point.dropout, point.lambda_exponent, point.weighting.gamma, point.lambda);
    });
    SearchResult result = best_of(points_, tried_);
    result.complete = complete;
    result.missing = missing_;
    std::optional<ModelParameters> of_kind[3];
    for (const Running& each : running_) {
      for (std::size_t k = 0; k < each.profiles.size(); ++k) {
        const Profile& profile = each.profiles[k];
        SearchProfile found{.kind = each.setting.space.kinds[k].kind,
                            .complete = profile.complete,
                            .interior = profile.interior};
        if (profile.best) found.best = each.setting.at(*profile.best);
        for (const Place& place : profile.curve) found.curve.push_back(each.setting.at(place));
        if (found.best && complete) take(of_kind[static_cast<int>(found.kind)], *found.best);
        result.profiles.push_back(std::move(found));
      }
    }
    // What is flat to its edge is not chosen at the edge.
    if (complete) {
      result.best.reset();
      result.unweighted = of_kind[static_cast<int>(RowKind::unweighted)];
      result.weighted = of_kind[static_cast<int>(RowKind::weighted)];
      result.down_weighted = of_kind[static_cast<int>(RowKind::down_weighted)];
      for (const auto& kind : of_kind) {
        if (kind) take(result.best, *kind);
      }
    }
    return result;
  }

  void take(std::optional<ModelParameters>& best, const ModelParameters& point) const {
    const Metric& choice = points_.options().choice;
    if (!best || points_.at(point).score(choice) > points_.at(*best).score(choice)) best = point;
  }

  Points& points_;
  const SearchSpace& space_;
  std::vector<Running> running_;
  std::vector<ModelParameters> tried_;
  std::vector<ModelParameters> missing_;
};

}  // namespace

ModelParameters BestSetting::at(const Place& place) const {
  ModelParameters point = base;
  point.lambda = space.axes[0].value[place[0]];
  point.weighting.alpha = space.axes[1].value[place[1]];
  for (std::size_t k = 0; k < parameters.size(); ++k)
    point.*parameters[k] = space.axes[k + 2].value[place[k + 2]];
  if (gamma) point.weighting.gamma = space.axes.back().value[place.back()];
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
    setting.space.kinds = kinds_of(axes[1], unweighted_alpha(scheme));
    const auto put = [&](double ModelParameters::*parameter, const std::vector<double>& range,
                         const Axis& axis) {
      setting.parameters.push_back(parameter);
      axes.push_back(range.size() == 1 ? fixed_axis(range.front()) : axis);
    };
    if (!space.dropout.empty() || space.automatic.dropout)
      put(&ModelParameters::dropout, space.dropout,
          even_axis(space.dropout, 0, most_dropout, dropout_spacing, usual_dropout, first_step));
    if (!space.lambda_exponent.empty() || space.automatic.lambda_exponent)
      put(&ModelParameters::lambda_exponent, space.lambda_exponent,
          even_axis(space.lambda_exponent, least_exponent, most_exponent, exponent_spacing, 0, first_step));
    if (scheme == Scheme::inverse_popularity && is_free(space.gamma, space.automatic.gamma)) {
      setting.gamma = true;
      axes.push_back(even_axis(space.gamma, 0, most_gamma, gamma_spacing, usual_gamma, first_step));
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

SearchResult search_best(Points& points, const SearchSpace& space) { return BestSearch(points, space).run(); }

}  // namespace poise
