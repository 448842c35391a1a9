#include "poise/search/lambda_lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace poise {
namespace {

constexpr double coarse_nodes = 6;  ///< a decade
/// A line that begins where others point to has its first points a third of a decade, four ordinary nodes,
/// apart.
constexpr int warm_step = 4;
/// How the best lambda follows alpha, both logarithmic, before two lines have shown it.
constexpr double usual_slope = 1;
constexpr double steepest = 3;
/// Closer lines say nothing about the slope between them.
constexpr double least_distance = 0.15;
/// The same on a narrow ridge.
constexpr int sharp_step = 2;
/// A line begins so far before the place where its neighbours' scores fall below this part of their top.
constexpr double near_the_top = 0.01;
constexpr double before_flank = 0.5;
/// Below this part of a line's top it makes no difference how low a point is.
constexpr double low_enough = 0.012;
/// After so many points of a kind for each axis beside lambda the best is ahead of its equals by chance, and
/// so would be what is found by looking more closely at lambda.
constexpr std::size_t most_closely = 40;
/// Lines of unweighted models are read further: they cost little, and what weights gain is read against them.
constexpr double unweighted_may_hide = 1e-4;

/// Whether both neighbours lie so far below that they do not say on which side of it the top is.
bool stands_alone(const std::vector<LinePoint>& points, const LinePoint& top) {
  const auto far_below = [&](const LinePoint& other) {
    return std::abs(&other - &top) > 1 || other.node == top.node ||
           other.score < top.score - low_enough * std::abs(top.score);
  };
  return std::ranges::all_of(points, far_below);
}

}  // namespace

Outer outer_of(const Place& place) { return {place.begin() + 1, place.end()}; }
Place place_of(int lambda, const Outer& outer) {
  Place place = {lambda};
  place.insert(place.end(), outer.begin(), outer.end());
  return place;
}

LambdaLines::LambdaLines(const ProfileSpace& space, const ProfileScores& scores, const ProfileKind& kind,
                         bool anchored)
    : space_(space),
      scores_(scores),
      kind_(kind),
      anchored_(anchored),
      best_score_(-std::numeric_limits<double>::infinity()) {
  for (const auto& [place, score] : scores.score) {
    const int alpha = place[alpha_axis_index];
    if (anchored && alpha == *kind.anchor) unweighted_[outer_of(place)].push_back({place[0], score});
    if (alpha < kind.low || alpha > kind.high) continue;
    lines_[outer_of(place)].push_back({place[lambda_axis_index], score});
    if (std::isfinite(score) && !scores.cut.contains(place) && (!best_ || score > best_score_)) {
      best_ = place;
      best_score_ = score;
    }
  }
}

double LambdaLines::noise(const Place& a, const Place& b) const {
  return scores_.noise ? scores_.noise(a, b) : 0;
}

double LambdaLines::depth() const { return anchored_ ? low_enough : std::numeric_limits<double>::infinity(); }

Line LambdaLines::line_of(const Outer& outer, int start, bool lost) const {
  return {.axis = &axis(0),
          .low = 0,
          .high = axis(0).nodes() - 1,
          .start = start,
          .step = lost ? axis(0).step : (sharp() ? sharp_step : warm_step) * axis(0).stride,
          .fine = axis(0).fine,
          .finer = axis(0).fine,
          .may_hide = anchored_ ? Line{}.may_hide : unweighted_may_hide,
          .lost = lost,
          .depth = depth(),
          .noise = [this, outer](int a, int b) { return noise(place_of(a, outer), place_of(b, outer)); }};
}

bool LambdaLines::sharp() const {
  const auto is_narrow = [&](const std::vector<LinePoint>& points) {
    const auto closer = [&](const LinePoint& a, const LinePoint& b) {
      return b.node - a.node < axis(0).stride;
    };
    return std::ranges::adjacent_find(points, closer) != points.end();
  };
  return (best_ && is_narrow(lines_.at(outer_of(*best_)))) ||
         std::ranges::any_of(unweighted_, [&](const auto& line) { return is_narrow(line.second); });
}

bool LambdaLines::looked_closely() const {
  std::size_t tried = 0;
  for (const auto& line : lines_) tried += line.second.size();
  const auto axes = std::ranges::count_if(space_.axes, [](const Axis& each) { return each.nodes() > 1; });
  return tried >= most_closely * static_cast<std::size_t>(std::max<std::ptrdiff_t>(axes - 1, 1));
}

LineAdvice LambdaLines::begin_at(const Outer& outer, int start, bool lost) const {
  return advise(line_of(outer, start, lost), {});
}

LineAdvice LambdaLines::advise_lambda(const Outer& outer, const std::vector<LinePoint>& points) const {
  Line line = line_of(outer, axis(0).start, !anchored_ && lines_.size() == 1);
  line.rival = best_score_;
  line.sharp = best_.has_value() && !looked_closely();
  // What cannot be told from the best is looked at closely, and the best itself most closely, unless it
  // lies so close to the unweighted one that this was.
  if (best_ && !looked_closely() && !next_to_unweighted(outer)) {
    const LinePoint& top = *std::ranges::max_element(points, {}, &LinePoint::score);
    const double behind = best_score_ - top.score;
    if (behind == 0)
      line.finer = line.fine / 4;
    else if (behind < 2 * noise(*best_, place_of(top.node, outer)))
      line.finer = line.fine / (stands_alone(points, top) ? 4 : 2);
  }
  return advise(line, points);
}

bool LambdaLines::next_to_unweighted(const Outer& outer) const {
  if (!anchored_) return false;
  return kind_.low > *kind_.anchor ? outer[0] <= kind_.close : outer[0] >= kind_.close;
}

Ridge LambdaLines::ridge_of(const Outer& outer, const std::vector<LinePoint>& points, int k) const {
  const LineAdvice advice = advise_lambda(outer, points);
  const Place best = place_of(std::ranges::max(points, {}, &LinePoint::score).node, outer);
  const double lambda = std::max(advice.top, flank_of(points) - before_flank);
  return {axis(k).position[outer[k - 1]], lambda, best, scores_.score.at(best)};
}

/// How far the line stays near its top towards large lambda. On a plateau the top is anywhere, but this
/// moves with alpha as a top would.
double LambdaLines::flank_of(const std::vector<LinePoint>& points) const {
  const auto top = std::ranges::max_element(points, {}, &LinePoint::score);
  const double near = top->score - near_the_top * std::abs(top->score);
  auto last = top;
  while (std::next(last) != points.end() && std::next(last)->score >= near) ++last;
  const double at = axis(0).position[last->node];
  if (std::next(last) == points.end() || !std::isfinite(std::next(last)->score)) return at;
  const double beyond = axis(0).position[std::next(last)->node];
  const double below = std::max(std::next(last)->score, top->score - depth() * std::abs(top->score));
  return at + (beyond - at) * (last->score - near) / (last->score - below);
}

std::map<int, Ridge> LambdaLines::ridge_along(int k, const Outer& here, bool looks) const {
  std::map<int, Ridge> ridge;
  const auto add = [&](const Outer& outer, const std::vector<LinePoint>& points) {
    Outer moved = outer;
    moved[k - 1] = here[k - 1];
    if (moved == here && (looks || points.size() > 1))
      ridge.emplace(outer[k - 1], ridge_of(outer, points, k));
  };
  for (const auto& [outer, points] : lines_) add(outer, points);
  if (k == alpha_axis_index && kind_.beside) {
    for (const auto& [outer, points] : unweighted_) add(outer, points);
  }
  return ridge;
}

int LambdaLines::expected_lambda(const Outer& outer, const Outer& from, int k) const {
  const double at = axis(k).position[outer[k - 1]];
  const std::map<int, Ridge> along = ridge_along(k, from, false);
  std::vector<Ridge> ridge;
  ridge.reserve(along.size());
  for (const auto& [node, found] : along) ridge.push_back(found);
  std::ranges::stable_sort(ridge, {}, [&](const Ridge& each) { return std::abs(each.at - at); });
  double lambda = axis(0).position[known_lambda(from)];
  if (!ridge.empty()) {
    double slope = k == alpha_axis_index ? usual_slope : 0;
    for (std::size_t other = 1; other < ridge.size(); ++other) {
      const double distance = ridge[other].at - ridge[0].at;
      if (std::abs(distance) < least_distance) continue;
      slope = std::clamp((ridge[other].lambda - ridge[0].lambda) / distance, -steepest, steepest);
      break;
    }
    lambda = ridge[0].lambda + slope * (at - ridge[0].at);
  }
  if (sharp()) return axis(0).nearest_of_all(lambda);
  // On every second node lines meet in the same lambdas, whose inverse they share.
  return axis(0).nearest(std::round(lambda * coarse_nodes) / coarse_nodes);
}

/// The best lambda known for a place, or for any.
int LambdaLines::known_lambda(const Outer& outer) const {
  const Place* best = nullptr;
  double highest = 0;
  for (const auto& [place, score] : scores_.score) {
    if (outer_of(place) == outer && (best == nullptr || score > highest)) {
      best = &place;
      highest = score;
    }
  }
  return best == nullptr ? axis(0).start : (*best)[0];
}

std::vector<Place> LambdaLines::curve() const {
  std::map<int, Place> best;
  for (const auto& [outer, points] : lines_) {
    const LinePoint& top = *std::ranges::max_element(points, {}, &LinePoint::score);
    if (!std::isfinite(top.score)) continue;
    const Place place = place_of(top.node, outer);
    const auto [known, first] = best.emplace(outer[0], place);
    if (!first && scores_.score.at(known->second) < top.score) known->second = place;
  }
  std::vector<Place> places;
  places.reserve(best.size());
  for (const auto& [alpha, place] : best) places.push_back(place);
  return places;
}

}  // namespace poise
