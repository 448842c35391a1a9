#include "poise/search/best.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <tuple>

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
/// What has to be proven of full-rank models while searching: of weights below 1 what is proven of a float32
/// model may be 1 / alpha^2 times the truth. The solver's own aim stays where it is (full_rank_columns.cpp).
constexpr double searching_proof = 1e-4;
constexpr double loosest_proof = 0.1;

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
constexpr double errors_in_doubt = 2.5;
constexpr double scatter_in_doubt = 1.1;
/// What is in doubt is scored on so many times as many users.
constexpr std::int64_t more_in_doubt = 2;

/// A setting's search, from complete rounds alone.
struct Running {
  BestSetting setting;
  ProfileScores scores = {};
  std::map<Place, std::int64_t> scored = {};  ///< users, of what was cut
  std::vector<Profile> profiles = {};
};

/// The kinds cover all places of a space.
RowKind kind_of(const ProfileSpace& space, const Place& place) {
  return std::ranges::find_if(
             space.kinds,
             [&](const ProfileKind& kind) { return kind.low <= place[1] && place[1] <= kind.high; })
      ->kind;
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
  std::int64_t least = 0;  ///< how many users it is scored on at least
};

class BestSearch {
 public:
  BestSearch(Points& points, const SearchSpace& space) : points_(points), space_(space) {
    for (BestSetting& setting : best_settings(space)) running_.push_back({.setting = std::move(setting)});
    for (Running& each : running_) {
      each.scores.noise = [this, &each](const Place& a, const Place& b) { return noise(each, a, b); };
    }
    plan();
  }
  BestSearch(const BestSearch&) = delete;

  /// What to measure next; nothing once it is done, or the points or the time have run out.
  [[nodiscard]] const std::vector<ModelParameters>& wanted() const { return batch_; }

  /// The race of one of these points.
  [[nodiscard]] std::optional<Race> race(const ModelParameters& point) const {
    const auto found = places_.find(points_.key(point));
    return found == places_.end() ? std::nullopt : race(found->second);
  }

  /// All that is wanted was measured.
  void go_on() {
    if (batch_.empty()) return;
    take();
    if (refused_.empty())
      plan();
    else
      stop(refused_);
  }

  /// The time is up, with these still to be measured, of this search or others.
  void give_up(std::vector<ModelParameters> missing) {
    if (batch_.empty()) return;
    const auto key = [&](const ModelParameters& point) { return points_.key(point); };
    std::erase_if(missing, [&](const ModelParameters& point) {
      return std::ranges::find(batch_, points_.key(point), key) == batch_.end();
    });
    if (missing.empty()) {
      go_on();
      missing = batch_;
      if (batch_.empty()) return;
    } else {
      if (!again_) note_tried();
      missing.insert(missing.end(), refused_.begin(), refused_.end());
    }
    stop(std::move(missing));
  }

  SearchResult result();

 private:
  void stop(std::vector<ModelParameters> missing) {
    complete_ = false;
    missing_ = std::move(missing);
    batch_.clear();
  }

  /// What comes next, from complete rounds alone: points that were cut and are in doubt, or a round.
  void plan() {
    const std::vector<Wanted> round = next();
    const std::vector<Wanted> doubted = doubtful();
    again_ = !doubted.empty();
    wanted_ = again_ ? doubted : round;
    batch_.clear();
    places_.clear();
    for (const Wanted& each : wanted_) batch_.push_back(parameters(each));
    if (points_.options().race) {
      for (std::size_t k = 0; k < batch_.size(); ++k) places_.emplace(points_.key(batch_[k]), wanted_[k]);
    }
    if (again_) return;
    if (space_.most_points && tried_.size() + batch_.size() > *space_.most_points) {
      const auto left = static_cast<std::ptrdiff_t>(*space_.most_points - tried_.size());
      refused_.assign(batch_.begin() + left, batch_.end());
      batch_.resize(left);
      if (batch_.empty()) stop(refused_);
    }
  }

  std::vector<Wanted> next() {
    std::vector<Wanted> round;
    for (std::size_t k = 0; k < running_.size(); ++k) {
      Running& each = running_[k];
      each.profiles = profiles_of(each.setting.space, each.scores);
      if (round.size() >= round_size) continue;
      for (Place& place : next_round(each.profiles))
        round.push_back({.setting = k, .place = std::move(place)});
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
          doubted.push_back({k, place, more_in_doubt * each.scored.at(place)});
      }
    }
    return doubted;
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

  void note_tried() {
    for (const ModelParameters& point : batch_) {
      if (points_.find(point) != nullptr) tried_.push_back(point);
    }
  }

  /// A round was measured, or what was in doubt; all races are against what was known before.
  void take() {
    if (!again_) note_tried();
    if (!refused_.empty()) return;
    std::vector<std::optional<Standing>> lost;
    for (const ModelParameters& point : batch_) lost.push_back(points_.lost(point, race(point)));
    for (std::size_t k = 0; k < wanted_.size(); ++k) {
      const Place& place = wanted_[k].place;
      Running& search = running_[wanted_[k].setting];
      search.scores.cut.erase(place);
      if (lost[k]) search.scores.cut.emplace(place, lost[k]->error);
      if (lost[k]) search.scored[place] = lost[k]->users;
      search.scores.score[place] =
          lost[k] ? lost[k]->mean : points_.at(batch_[k]).score(points_.options().choice);
    }
    if (again_) noises_.clear();
  }

  /// Against the best of its kind in the rounds before, with what is known next to it.
  [[nodiscard]] std::optional<Race> race(const Wanted& wanted) const {
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
      const std::optional<Rival> rival = points_.rival(search.setting.at(place));
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
    Race race{.users = points_.users(), .leader = leader->rival, .least = wanted.least};
    known.erase(leader);
    std::ranges::stable_sort(known, {}, &Known::distance);
    for (const Known& each : std::span(known).first(std::min(alike_in_race, known.size())))
      race.alike.push_back(each.rival);
    return race;
  }

  Points& points_;
  const SearchSpace& space_;
  std::vector<Running> running_;
  bool complete_ = true;
  bool again_ = false;                    ///< what is wanted was cut, and is in doubt
  std::vector<Wanted> wanted_;            ///< the round, or what is in doubt
  std::vector<ModelParameters> batch_;    ///< the same as points, as far as there are points left
  std::vector<ModelParameters> refused_;  ///< beyond the most points
  std::map<std::string, Wanted> places_;  ///< of the batch, where it races
  std::vector<ModelParameters> tried_;
  std::vector<ModelParameters> missing_;
  std::map<std::tuple<const Running*, Place, Place>, double> noises_;
};

SearchResult BestSearch::result() {
  std::ranges::stable_sort(tried_, {}, [](const ModelParameters& point) {
    return std::tuple(point.rank, static_cast<int>(point.weighting.scheme), point.weighting.alpha,
                      point.dropout, point.lambda_exponent, point.weighting.gamma, point.lambda);
  });
  SearchResult result = best_of(points_, tried_);
  result.complete = complete_;
  result.missing = missing_;
  for (const Running& each : running_) {
    for (std::size_t k = 0; k < each.profiles.size(); ++k) {
      const Profile& profile = each.profiles[k];
      SearchProfile found{.kind = each.setting.space.kinds[k].kind,
                          .complete = profile.complete,
                          .interior = profile.interior};
      if (profile.best) found.best = each.setting.at(*profile.best);
      for (const Place& place : profile.curve) found.curve.push_back(each.setting.at(place));
      result.profiles.push_back(std::move(found));
    }
  }
  choose_by_profiles(points_, result);
  return result;
}

}  // namespace

ModelParameters BestSetting::at(const Place& place) const {
  ModelParameters point = base;
  point.lambda = space.axes[0].value[place[0]];
  point.weighting.alpha = space.axes[1].value[place[1]];
  for (std::size_t k = 0; k < parameters.size(); ++k)
    point.*parameters[k] = space.axes[k + 2].value[place[k + 2]];
  if (gamma) point.weighting.gamma = space.axes.back().value[place.back()];
  if (point.family == Family::full_rank) {
    const double alpha =
        point.weighting.scheme == Scheme::constant ? std::min(1.0, point.weighting.alpha) : 1;
    point.tolerance = std::max(base.tolerance, std::min(loosest_proof, searching_proof / (alpha * alpha)));
  }
  return point;
}

void choose_by_profiles(const Points& points, SearchResult& result) {
  const auto take = [&](std::optional<ModelParameters>& best, const ModelParameters& point) {
    const Metric& choice = points.options().choice;
    if (!best || points.at(point).score(choice) > points.at(*best).score(choice)) best = point;
  };
  const auto choose = [&](RowKind kind, std::optional<ModelParameters>& chosen) {
    std::optional<ModelParameters> best;
    for (const SearchProfile& each : result.profiles) {
      if (each.kind != kind) continue;
      if (!each.complete) return;
      if (each.best) take(best, *each.best);
    }
    if (best) chosen = best;
  };
  choose(RowKind::unweighted, result.unweighted);
  choose(RowKind::weighted, result.weighted);
  choose(RowKind::down_weighted, result.down_weighted);
  result.best.reset();
  for (const auto& kind : {result.unweighted, result.weighted, result.down_weighted}) {
    if (kind) take(result.best, *kind);
  }
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

std::vector<SearchResult> search_best(Points& points, std::span<const SearchSpace> spaces) {
  std::deque<BestSearch> searches;
  for (const SearchSpace& space : spaces) searches.emplace_back(points, space);
  const auto racing = [&](const ModelParameters& point) -> std::optional<Race> {
    for (const BestSearch& search : searches) {
      if (const auto race = search.race(point)) return race;
    }
    return {};
  };
  for (;;) {
    std::vector<ModelParameters> batch;
    for (const BestSearch& search : searches)
      batch.insert(batch.end(), search.wanted().begin(), search.wanted().end());
    if (batch.empty()) break;
    try {
      points.measure(batch, Diagonals::as_asked, racing);
      for (BestSearch& search : searches) search.go_on();
    } catch (const TimeIsUp& up) {
      for (BestSearch& search : searches) search.give_up(up.missing);
    }
  }
  points.drop_models();
  std::vector<SearchResult> results;
  for (BestSearch& search : searches) results.push_back(search.result());
  return results;
}

}  // namespace poise
