#include "poise/search/running.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace poise {
namespace {

/// A place that stopped early may be the best if it is behind by no more than so many paired errors.
constexpr double errors_in_reach = 1;
/// So many of a kind are trained again at once: the first ones often show that the others are not the best.
constexpr std::size_t most_at_once = 4;
/// A point's neighbours say most of what it will score; more of them say little more.
constexpr std::size_t alike_in_race = 3;

}  // namespace

ModelParameters Running::at(const Place& place) const {
  ModelParameters point = setting.at(place);
  if (converged.contains(place)) {
    point.least_decrease = trained.least_decrease;
    point.tolerance = trained.tolerance;
  }
  return point;
}

RowKind Running::kind_of(const Place& place) const {
  // The kinds cover all places of a space.
  return std::ranges::find_if(
             setting.space.kinds,
             [&](const ProfileKind& kind) { return kind.low <= place[1] && place[1] <= kind.high; })
      ->kind;
}

bool Running::stops_early(const Place& place) const {
  const ModelParameters point = at(place);
  return point.low_rank() && point.least_decrease > trained.least_decrease && !point.uniform();
}

double Running::distance(const Place& a, const Place& b) const {
  double sum = 0;
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    const std::vector<double>& position = setting.space.axes[axis].position;
    sum += std::abs(position[a[axis]] - position[b[axis]]);
  }
  return sum;
}

bool Running::begins_converged(const Place& place) const {
  return ending.contains(kind_of(place)) && stops_early(place);
}

std::vector<std::vector<Place>> Running::may_be_best(const std::vector<Profile>& found,
                                                     const ProfileScores& with) const {
  std::vector<std::vector<Place>> wanted(found.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (!found[k].complete || !found[k].best) continue;
    const RowKind kind = setting.space.kinds[k].kind;
    const Place& best = *found[k].best;
    // Compared as they stopped early, which moves neighbouring points alike.
    const auto before = early.find(best);
    const double highest = before == early.end() ? with.score.at(best) : before->second;
    std::vector<std::pair<double, Place>> behind;
    for (const auto& [place, score] : with.score) {
      if (kind_of(place) != kind || !stops_early(place)) continue;
      const double difference = highest - score;
      if (place == best || difference <= errors_in_reach * with.noise(best, place))
        behind.emplace_back(place == best ? -std::numeric_limits<double>::infinity() : difference, place);
    }
    std::ranges::sort(behind);
    for (const auto& each : std::span(behind).first(std::min(most_at_once, behind.size())))
      wanted[k].push_back(each.second);
  }
  return wanted;
}

std::vector<Place> Running::to_converge() {
  std::vector<Place> wanted;
  for (const std::vector<Place>& of_kind : may_be_best(profiles, scores))
    wanted.insert(wanted.end(), of_kind.begin(), of_kind.end());
  for (std::size_t k = 0; k < profiles.size(); ++k) {
    if (profiles[k].complete && profiles[k].best) ending.insert(setting.space.kinds[k].kind);
  }
  return wanted;
}

std::optional<Race> Running::race(const Points& points, const Place& runner, std::int64_t least) const {
  const RowKind kind = kind_of(runner);
  struct Known {
    Rival rival;
    bool same_kind;
    double distance;
  };
  std::vector<Known> known;
  for (const auto& [place, score] : scores.score) {
    if (scores.cut.contains(place)) continue;
    const std::optional<Rival> rival = points.rival(at(place));
    if (!rival) continue;
    known.push_back({*rival, kind_of(place) == kind, distance(place, runner)});
  }
  const auto leader = std::ranges::max_element(
      known, {}, [](const Known& each) { return std::pair(each.same_kind, each.rival.mean); });
  if (leader == known.end() || !leader->same_kind) return {};
  Race race{.users = points.users(), .leader = leader->rival, .least = least};
  known.erase(leader);
  std::ranges::stable_sort(known, {}, &Known::distance);
  for (const Known& each : std::span(known).first(std::min(alike_in_race, known.size())))
    race.alike.push_back(each.rival);
  return race;
}

}  // namespace poise
