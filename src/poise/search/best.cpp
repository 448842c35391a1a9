#include "poise/search/best.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <tuple>

#include "poise/search/best_settings.hpp"
#include "poise/search/profiles.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {
namespace {

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

/// Whether two settings differ in their number of neighbours alone.
bool shares_factors(const Running& a, const Running& b) {
  ModelParameters other = a.setting.base;
  if (other.neighbours == 0 || b.setting.base.neighbours == 0) return false;
  other.neighbours = b.setting.base.neighbours;
  return option_texts(other) == option_texts(b.setting.base);
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
      // Those that differ in their number of neighbours share factorizations, so they go on together.
      if (round.size() >= round_size && !shares_factors(running_[round.back().setting], each)) continue;
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
      for (const auto& cut : each.scores.cut) {
        const Place& place = cut.first;
        const double error = cut.second;
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

  /// Computed once for each pair, as it is asked for again and again. Of a point that was cut only the users
  /// that it was scored on before the cut count: the journal may hold more of them, from later in a search
  /// that was interrupted.
  double noise(const Running& search, const Place& a, const Place& b) {
    const auto [known, first] = noises_.try_emplace({&search, std::min(a, b), std::max(a, b)}, 0);
    if (first)
      known->second = points_.paired_error(search.setting.at(a), search.setting.at(b),
                                           std::min(users_of(search, a), users_of(search, b)));
    return known->second;
  }

  [[nodiscard]] static std::size_t users_of(const Running& search, const Place& place) {
    return search.scores.cut.contains(place) ? static_cast<std::size_t>(search.scored.at(place))
                                             : std::numeric_limits<std::size_t>::max();
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
    return std::tuple(point.rank, point.neighbours, static_cast<int>(point.weighting.scheme),
                      point.weighting.alpha, point.dropout, point.lambda_exponent, point.weighting.gamma,
                      point.lambda);
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

void choose_by_profiles(const Points& points, SearchResult& result) {
  const auto take = [&](std::optional<ModelParameters>& best, const ModelParameters& point) {
    const Metric& choice = points.options().choice;
    if (!best || points.at(point).score(choice) > points.at(*best).score(choice)) best = point;
  };
  const auto choose = [&](RowKind kind) {
    std::optional<ModelParameters> best;
    for (const SearchProfile& each : result.profiles) {
      if (each.kind != kind) continue;
      if (!each.complete) return;
      if (each.best) take(best, *each.best);
    }
    if (best) result.*best_of_kind(kind) = best;
  };
  for (const RowKind kind : {RowKind::unweighted, RowKind::weighted, RowKind::down_weighted}) choose(kind);
  result.best.reset();
  for (const auto& kind : {result.unweighted, result.weighted, result.down_weighted}) {
    if (kind) take(result.best, *kind);
  }
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
    const std::vector<ModelParameters> left = points.measure(batch, Diagonals::as_asked, racing);
    for (BestSearch& search : searches) left.empty() ? search.go_on() : search.give_up(left);
  }
  points.drop_models();
  std::vector<SearchResult> results;
  for (BestSearch& search : searches) results.push_back(search.result());
  return results;
}

}  // namespace poise
