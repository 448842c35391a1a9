#include "poise/search/best.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "poise/search/running.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {
namespace {

/// How far the estimate of a point that was cut is trusted, in standard errors and as a factor.
constexpr double errors_in_doubt = 4;
constexpr double scatter_in_doubt = 1.3;
/// What is in doubt is scored on so many times as many users.
constexpr std::int64_t more_in_doubt = 2;

/// Whether two settings differ in their number of neighbours alone.
bool shares_factors(const Running& a, const Running& b) {
  ModelParameters other = a.setting.base;
  if (other.neighbours == 0 || b.setting.base.neighbours == 0) return false;
  other.neighbours = b.setting.base.neighbours;
  return option_texts(other) == option_texts(b.setting.base);
}

/// What a search does next with these scores, or ends with.
auto decided(const Running& search, const std::vector<Profile>& profiles, const ProfileScores& scores) {
  std::vector<std::tuple<bool, bool, std::optional<Place>>> ends;
  ends.reserve(profiles.size());
  for (const Profile& each : profiles)
    ends.emplace_back(each.complete, each.complete && each.interior,
                      each.complete ? each.best : std::nullopt);
  return std::tuple(next_round(profiles), ends, search.may_be_best(profiles, scores));
}

/// What a batch is: a round of new points, points that were cut and are in doubt, or points that stopped
/// early and may be the best.
enum class Batch { round, doubted, stopped_early };

struct Wanted {
  std::size_t setting;
  Place place;
  std::int64_t least = 0;  ///< how many users it is scored on at least
};

class BestSearch {
 public:
  BestSearch(Points& points, const SearchSpace& space) : points_(points), space_(space) {
    for (BestSetting& setting : best_settings(space))
      running_.push_back({.setting = std::move(setting), .trained = space.base});
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
    return found == places_.end()
               ? std::nullopt
               : running_[found->second.setting].race(points_, found->second.place, found->second.least);
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
      if (kind_ != Batch::doubted) note_tried();
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
    for (const Wanted& each : wanted_) {
      Running& search = running_[each.setting];
      if (points_.find(search.at(each.place)) == nullptr) search.converged.erase(each.place);
    }
  }

  /// What comes next, from complete rounds alone.
  void plan() {
    const std::vector<Wanted> round = next();
    kind_ = Batch::doubted;
    wanted_ = doubtful();
    if (wanted_.empty()) {
      kind_ = Batch::stopped_early;
      wanted_ = stopped_early();
    }
    if (wanted_.empty()) {
      kind_ = Batch::round;
      wanted_ = round;
    }
    for (const Wanted& each : wanted_) {
      Running& search = running_[each.setting];
      if (kind_ == Batch::stopped_early || (kind_ == Batch::round && search.begins_converged(each.place)))
        search.converged.insert(each.place);
    }
    batch_.clear();
    places_.clear();
    for (const Wanted& each : wanted_) batch_.push_back(running_[each.setting].at(each.place));
    if (points_.options().race && kind_ != Batch::stopped_early) {
      for (std::size_t k = 0; k < batch_.size(); ++k) places_.emplace(points_.key(batch_[k]), wanted_[k]);
    }
    if (kind_ == Batch::doubted) return;
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

  /// What has to be trained to convergence before its kind is done.
  std::vector<Wanted> stopped_early() {
    std::vector<Wanted> wanted;
    for (std::size_t k = 0; k < running_.size(); ++k) {
      for (Place& place : running_[k].to_converge()) {
        wanted.push_back({.setting = k, .place = std::move(place)});
      }
    }
    return wanted;
  }

  /// What was cut although something depends on it: it would be trained again, or the search would go on
  /// otherwise if it was scored on all users and its score, or how far it scatters, was another one that it
  /// may be.
  [[nodiscard]] std::vector<Wanted> doubtful() const {
    std::vector<Wanted> doubted;
    for (std::size_t k = 0; k < running_.size(); ++k) {
      const Running& each = running_[k];
      if (each.scores.cut.empty()) continue;
      const auto here = decided(each, each.profiles, each.scores);
      for (const auto& cut : each.scores.cut) {
        const Place& place = cut.first;
        const double error = cut.second;
        const auto changes = [&](double errors, double scatter) {
          ProfileScores other = each.scores;
          other.score[place] += errors * error;
          other.cut.erase(place);  // what is scored on all users may be chosen
          other.noise = [&](const Place& a, const Place& b) {
            return each.scores.noise(a, b) * (a == place || b == place ? scatter : 1);
          };
          return decided(each, profiles_of(each.setting.space, other), other) != here;
        };
        const auto contains = [&](const std::vector<Place>& places) {
          return std::ranges::find(places, place) != places.end();
        };
        if (std::ranges::any_of(std::get<2>(here), contains) || changes(-errors_in_doubt, 1) ||
            changes(errors_in_doubt, 1) || changes(0, scatter_in_doubt) || changes(0, 1 / scatter_in_doubt))
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
      known->second = points_.paired_error(search.at(a), search.at(b),
                                           std::min(users_of(search, a), users_of(search, b)));
    return known->second;
  }

  [[nodiscard]] static std::size_t users_of(const Running& search, const Place& place) {
    return search.scores.cut.contains(place) ? static_cast<std::size_t>(search.scored.at(place))
                                             : std::numeric_limits<std::size_t>::max();
  }

  void note_tried() {
    for (const ModelParameters& point : batch_) {
      if (points_.find(point) != nullptr) tried_.push_back(point);
    }
  }

  /// A round was measured, or what was in doubt; all races are against what was known before.
  void take() {
    if (kind_ != Batch::doubted) note_tried();
    if (!refused_.empty()) return;
    std::vector<std::optional<Standing>> lost;
    for (const ModelParameters& point : batch_) lost.push_back(points_.lost(point, race(point)));
    for (std::size_t k = 0; k < wanted_.size(); ++k) {
      const Place& place = wanted_[k].place;
      Running& search = running_[wanted_[k].setting];
      if (kind_ == Batch::stopped_early) search.early.emplace(place, search.scores.score.at(place));
      search.scores.cut.erase(place);
      if (lost[k]) search.scores.cut.emplace(place, lost[k]->error);
      if (lost[k]) search.scored[place] = lost[k]->users;
      search.scores.score[place] =
          lost[k] ? lost[k]->mean : points_.at(batch_[k]).score(points_.options().choice);
    }
    if (kind_ != Batch::round) noises_.clear();
  }

  Points& points_;
  const SearchSpace& space_;
  std::vector<Running> running_;
  bool complete_ = true;
  Batch kind_ = Batch::round;
  std::vector<Wanted> wanted_;            ///< the batch
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
                      point.weighting.alpha, point.dropout, point.lambda_exponent, point.feature_weight,
                      point.weighting.alpha_negative, point.weighting.gamma, point.lambda);
  });
  // Of what was trained again, to convergence, that counts.
  std::set<std::string> tried;
  for (const ModelParameters& point : tried_) tried.insert(points_.key(point));
  const auto superseded = [&](const ModelParameters& point) {
    const std::string converged = points_.key(to_convergence(point, space_));
    return converged != points_.key(point) && tried.contains(converged);
  };
  const auto again = std::stable_partition(tried_.begin(), tried_.end(), std::not_fn(superseded));
  const SearchResult::Scorings first = best_of(points_, {again, tried_.end()}).scorings;
  tried_.erase(again, tried_.end());
  SearchResult result = best_of(points_, tried_);
  result.scorings.done += first.done;
  result.scorings.spared += first.spared;
  result.complete = complete_;
  result.missing = missing_;
  for (const Running& each : running_) {
    for (std::size_t k = 0; k < each.profiles.size(); ++k) {
      const Profile& profile = each.profiles[k];
      SearchProfile found{.kind = each.setting.space.kinds[k].kind,
                          .complete = profile.complete,
                          .interior = profile.interior};
      if (profile.best) found.best = each.at(*profile.best);
      for (const Place& place : profile.curve) found.curve.push_back(each.at(place));
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
      if (auto race = search.race(point)) return race;
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
  results.reserve(searches.size());
  for (BestSearch& search : searches) results.push_back(search.result());
  return results;
}

}  // namespace poise
