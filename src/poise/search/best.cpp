#include "poise/search/best.hpp"

#include <algorithm>
#include <cmath>
#include <map>
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
constexpr double loosest_tolerance = 0.01;

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

/// A point's neighbours say most of what it will score; more of them say little more.
constexpr std::size_t alike_in_race = 3;
/// How far the estimate of a point that was cut is trusted, in standard errors and as a factor.
constexpr double errors_in_doubt = 1.5;
constexpr double scatter_in_doubt = 1.1;

/// A setting's search, from complete rounds alone.
struct Running {
  BestSetting setting;
  ProfileScores scores = {};
  std::vector<Profile> profiles = {};
};

RowKind kind_of(const ProfileSpace& space, const Place& place) {
  for (const ProfileKind& kind : space.kinds) {
    if (kind.low <= place[1] && place[1] <= kind.high) return kind.kind;
  }
  fail(ErrorKind::usage, "a point lies outside of the search");
}

/// What a search does next, or ends with.
auto decided(const std::vector<Profile>& profiles) {
  std::vector<std::tuple<bool, bool, std::optional<Place>>> ends;
  for (const Profile& each : profiles)
    ends.emplace_back(each.complete, each.complete && each.interior,
                      each.complete ? each.best : std::nullopt);
  return std::pair(next_round(profiles), ends);
}

struct Wanted {
  std::size_t setting;
  Place place;
};

class BestSearch {
 public:
  BestSearch(Points& points, const SearchSpace& space) : points_(points), space_(space) {
    for (BestSetting& setting : best_settings(space)) running_.push_back({.setting = std::move(setting)});
    for (Running& each : running_) {
      each.scores.noise = [this, &each](const Place& a, const Place& b) { return noise(each, a, b); };
    }
  }

  SearchResult run() {
    const SearchResult result = explore();
    points_.drop_models();
    return result;
  }

 private:
  SearchResult explore() {
    for (;;) {
      const std::vector<Wanted> round = next();
      const std::vector<Wanted> again = doubtful();
      if (round.empty() && again.empty()) break;
      if (again.empty() ? !measure(round) : !measure_again(again)) return result(false);
    }
    return result(true);
  }

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

  /// What was cut although something depends on it: were its score, or how far it scatters, another one that
  /// it may be, the search would go on otherwise.
  [[nodiscard]] std::vector<Wanted> doubtful() const {
    std::vector<Wanted> doubted;
    for (std::size_t k = 0; k < running_.size(); ++k) {
      const Running& each = running_[k];
      for (const auto& [place, error] : each.scores.cut) {
        const auto changes = [&](double errors, double scatter) {
          ProfileScores other = each.scores;
          other.score[place] += errors * error;
          other.noise = [&](const Place& a, const Place& b) {
            return each.scores.noise(a, b) * (a == place || b == place ? scatter : 1);
          };
          return decided(profiles_of(each.setting.space, other)) != decided(each.profiles);
        };
        if (changes(-errors_in_doubt, 1) || changes(errors_in_doubt, 1) || changes(0, scatter_in_doubt) ||
            changes(0, 1 / scatter_in_doubt))
          doubted.push_back({k, place});
      }
    }
    return doubted;
  }

  /// Scores them on all users.
  bool measure_again(const std::vector<Wanted>& doubted) {
    std::vector<ModelParameters> batch;
    for (const Wanted& each : doubted) {
      batch.push_back(parameters(each));
      const auto& cut = points_.at(batch.back()).cut;
      if (cut && !points_.holds(batch.back())) scored_in_vain_ += cut->users;
    }
    try {
      points_.measure(batch, space_.both_diagonals);
    } catch (TimeIsUp& up) {
      missing_ = std::move(up.missing);
      return false;
    }
    for (std::size_t k = 0; k < doubted.size(); ++k) {
      ProfileScores& scores = running_[doubted[k].setting].scores;
      scores.cut.erase(doubted[k].place);
      scores.score[doubted[k].place] = points_.at(batch[k]).score(points_.options().choice);
    }
    noises_.clear();
    return true;
  }

  /// Asked for again and again.
  double noise(const Running& search, const Place& a, const Place& b) {
    const auto [known, first] = noises_.try_emplace({&search, std::min(a, b), std::max(a, b)}, 0);
    if (first) known->second = points_.paired_error(search.setting.at(a), search.setting.at(b));
    return known->second;
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
    std::map<std::string, const Wanted*> places;
    for (const Wanted& each : round) places.emplace(points_.key(parameters(each)), &each);
    const auto racing = [&](const ModelParameters& point) -> std::optional<Race> {
      const auto found = places.find(points_.key(with_own_diagonal(point)));
      return found == places.end() ? std::nullopt : race(*found->second, point.zero_diagonal);
    };
    try {
      points_.measure(batch, space_.both_diagonals, points_.options().race ? Racing(racing) : Racing());
    } catch (TimeIsUp& up) {
      missing_ = std::move(up.missing);
    }
    for (const ModelParameters& point : batch) {
      if (points_.find(point) != nullptr) tried_.push_back(point);
    }
    missing_.insert(missing_.end(), refused.begin(), refused.end());
    if (!missing_.empty()) return false;
    // All races are those of the rounds before.
    std::vector<std::optional<Standing>> lost;
    for (const ModelParameters& point : batch)
      lost.push_back(points_.options().race ? points_.lost(point, racing(point)) : std::nullopt);
    for (std::size_t k = 0; k < round.size(); ++k) {
      Running& search = running_[round[k].setting];
      if (lost[k]) search.scores.cut.emplace(round[k].place, lost[k]->error);
      search.scores.score[round[k].place] =
          lost[k] ? lost[k]->mean : points_.at(batch[k]).score(points_.options().choice);
    }
    return true;
  }

  [[nodiscard]] ModelParameters with_own_diagonal(ModelParameters point) const {
    point.zero_diagonal = space_.base.zero_diagonal;
    return point;
  }

  /// Against the best of its kind in the rounds before, with what is known next to it; the same for the other
  /// diagonal of all these points.
  [[nodiscard]] std::optional<Race> race(const Wanted& wanted, bool zero_diagonal) const {
    const Running& search = running_[wanted.setting];
    const ProfileSpace& space = search.setting.space;
    const RowKind kind = kind_of(space, wanted.place);
    struct Known {
      Rival rival;
      bool same_kind;
      double distance;
    };
    std::vector<Known> known;
    for (const auto& [place, score] : search.scores.score) {
      if (search.scores.cut.contains(place)) continue;
      ModelParameters point = search.setting.at(place);
      point.zero_diagonal = zero_diagonal;
      const std::optional<Rival> rival = points_.rival(point);
      if (!rival) continue;
      double distance = 0;
      for (std::size_t axis = 0; axis < place.size(); ++axis)
        distance +=
            std::abs(space.axes[axis].position[place[axis]] - space.axes[axis].position[wanted.place[axis]]);
      known.push_back({*rival, kind_of(space, place) == kind, distance});
    }
    const auto leader = std::ranges::max_element(
        known, {}, [](const Known& each) { return std::pair(each.same_kind, each.rival.mean); });
    if (leader == known.end() || !leader->same_kind) return {};
    Race race{.users = points_.users(), .leader = leader->rival};
    known.erase(leader);
    std::ranges::stable_sort(known, {}, &Known::distance);
    for (const Known& each : std::span(known).first(std::min(alike_in_race, known.size())))
      race.alike.push_back(each.rival);
    return race;
  }

  SearchResult result(bool complete) {
    std::ranges::stable_sort(tried_, {}, [](const ModelParameters& point) {
      return std::tuple(point.rank, static_cast<int>(point.weighting.scheme), point.weighting.alpha,
                        point.dropout, point.lambda_exponent, point.weighting.gamma, point.lambda);
    });
    SearchResult result = best_of(points_, tried_);
    result.scorings.done += scored_in_vain_;
    result.scorings.spared -= scored_in_vain_;
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
  std::int64_t scored_in_vain_ = 0;  ///< users of points that were cut, and scored again
  std::map<std::tuple<const Running*, Place, Place>, double> noises_;
};

}  // namespace

ModelParameters BestSetting::at(const Place& place) const {
  ModelParameters point = base;
  point.lambda = space.axes[0].value[place[0]];
  point.weighting.alpha = space.axes[1].value[place[1]];
  for (std::size_t k = 0; k < parameters.size(); ++k)
    point.*parameters[k] = space.axes[k + 2].value[place[k + 2]];
  if (gamma) point.weighting.gamma = space.axes.back().value[place.back()];
  // What is proven of a column may be 1 / alpha times the truth.
  if (point.family == Family::full_rank && point.weighting.scheme == Scheme::constant)
    point.tolerance =
        std::max(base.tolerance, std::min(loosest_tolerance, base.tolerance / point.weighting.alpha));
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
