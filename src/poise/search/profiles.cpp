#include "poise/search/profiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "poise/search/line.hpp"

namespace poise {
namespace {

constexpr int lambda_axis_index = 0;
constexpr int alpha_axis_index = 1;
constexpr double coarse_nodes = 6;  ///< a decade
/// A line that begins where others point to has its first points a third of a decade, four ordinary nodes,
/// apart.
constexpr int warm_step = 4;
/// How the best lambda follows alpha, both logarithmic, before two lines have shown it.
constexpr double usual_slope = 1;
constexpr double steepest = 3;
/// Closer lines say nothing about the slope between them.
constexpr double least_distance = 0.15;
/// A line begins so far before the place where its neighbours' scores fall below this part of their top.
constexpr double near_the_top = 0.01;
constexpr double before_flank = 0.5;
/// Below this part of a line's top it makes no difference how low a point is.
constexpr double low_enough = 0.012;
/// Lines of unweighted models are read further: they cost little, and what weights gain is read against them.
constexpr double unweighted_may_hide = 1e-4;
/// A paired standard error above which scores scatter so much that an alpha as good as the best may hide one
/// that is better between them.
constexpr double few_users = 5e-4;
/// Where the weighted kinds are looked at first, in decades of alpha from 1: close by, and so far that a top
/// in between or beyond shows.
constexpr double close_by = 0.04;
constexpr std::array<double, 2> first_distances = {0.33, 0.83};
/// The same of slopes.
constexpr double close_slope = 0.01;
constexpr std::array<double, 2> first_slopes = {1, 0.2};

/// The place without its lambda.
using Outer = std::vector<int>;

Outer outer_of(const Place& place) { return {place.begin() + 1, place.end()}; }
Place place_of(int lambda, const Outer& outer) {
  Place place = {lambda};
  place.insert(place.end(), outer.begin(), outer.end());
  return place;
}

class KindSearch {
 public:
  KindSearch(const ProfileSpace& space, const ProfileScores& scores, const ProfileKind& kind,
             const Profile* unweighted)
      : space_(space), scores_(scores), kind_(kind), unweighted_(unweighted) {
    for (const auto& [place, score] : scores.score) {
      const int alpha = place[alpha_axis_index];
      if (alpha < kind.low || alpha > kind.high) continue;
      lines_[outer_of(place)].push_back({place[lambda_axis_index], score});
      if (std::isfinite(score) && !scores.cut.contains(place) && (!best_ || score > best_score_)) {
        best_ = place;
        best_score_ = score;
      }
    }
  }

  Profile run() {
    Profile profile;
    profile.curve = curve();
    profile.best = best_;
    if (anchored() && !unweighted_->complete) return profile;
    if (lines_.empty()) {
      begin();
    } else if (best_) {
      follow(profile);
    } else {
      // No model so far.
      for (const auto& [outer, points] : lines_) want(outer, advise_lambda(outer, points));
    }
    profile.wanted = std::move(wanted_);
    profile.complete = profile.wanted.empty();
    return profile;
  }

 private:
  /// Once it is known where to look, nothing is read out of what lies far below.
  [[nodiscard]] double depth() const {
    return anchored() ? low_enough : std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] bool anchored() const { return kind_.anchor && unweighted_ != nullptr; }
  [[nodiscard]] const Axis& axis(int k) const { return space_.axes[k]; }
  [[nodiscard]] int axes() const { return static_cast<int>(space_.axes.size()); }
  [[nodiscard]] double noise(const Place& a, const Place& b) const {
    return scores_.noise ? scores_.noise(a, b) : 0;
  }

  void begin() {
    if (anchored() && unweighted_->best) {
      // What it falls back on.
      Place place = *unweighted_->best;
      place[alpha_axis_index] = kind_.close;
      wanted_.push_back(place);
      Outer outer = outer_of(place);
      outer[0] = kind_.first.front();
      if (place[alpha_axis_index] != outer[0]) begin_line(outer, outer_of(*unweighted_->best));
      return;
    }
    Outer outer;
    for (int k = 1; k < axes(); ++k) outer.push_back(axis(k).start);
    outer[0] = std::clamp(outer[0], kind_.low, kind_.high);
    want(outer, advise(line_of(outer, axis(0).start, true), {}));
  }

  void want(const Outer& outer, const LineAdvice& advice) {
    for (const int node : advice.wanted) wanted_.push_back(place_of(node, outer));
  }

  void follow(Profile& profile) {
    const Outer here = outer_of(*best_);
    LineAdvice of_lambda;
    for (const auto& [outer, points] : lines_) {
      // A single point is a look, and not yet a line.
      if (points.size() == 1 && outer != here) continue;
      const LineAdvice advice = advise_lambda(outer, points);
      if (outer == here) of_lambda = advice;
      want(outer, advice);
    }
    if (const Place chosen = place_of(of_lambda.best, here); !scores_.cut.contains(chosen))
      profile.best = chosen;
    if (!wanted_.empty()) return;
    profile.interior = of_lambda.interior || axis(0).nodes() == 1;
    for (int k = 1; k < axes() && wanted_.empty(); ++k) {
      const bool inside = follow_axis(k, here);
      profile.interior = profile.interior && inside;
    }
    if (wanted_.empty()) check_against_unweighted();
  }

  [[nodiscard]] Line line_of(const Outer& outer, int start, bool lost) const {
    return {.axis = &axis(0),
            .low = 0,
            .high = axis(0).nodes() - 1,
            .start = start,
            .step = lost ? axis(0).step : warm_step * axis(0).stride,
            .fine = axis(0).fine,
            .finer = axis(0).fine,
            .may_hide = anchored() ? Line{}.may_hide : unweighted_may_hide,
            .lost = lost,
            .depth = depth(),
            .noise = [this, outer](int a, int b) { return noise(place_of(a, outer), place_of(b, outer)); }};
  }

  [[nodiscard]] LineAdvice advise_lambda(const Outer& outer, const std::vector<LinePoint>& points) const {
    Line line = line_of(outer, axis(0).start, !anchored() && lines_.size() == 1);
    line.rival = best_score_;
    line.sharp = best_ && outer == outer_of(*best_);
    // What cannot be told from the best is looked at closely, and the best itself most closely, unless it
    // lies so close to the unweighted one that this was.
    if (best_ && !next_to_unweighted(outer)) {
      const LinePoint& top = *std::ranges::max_element(points, {}, &LinePoint::score);
      const double behind = best_score_ - top.score;
      if (behind == 0)
        line.finer = line.fine / 4;
      else if (behind < 2 * noise(*best_, place_of(top.node, outer)))
        line.finer = line.fine / (stands_alone(points, top) ? 4 : 2);
    }
    return advise(line, points);
  }

  /// Whether both neighbours lie so far below that they do not say on which side of it the top is.
  [[nodiscard]] bool stands_alone(const std::vector<LinePoint>& points, const LinePoint& top) const {
    const auto far_below = [&](const LinePoint& other) {
      return std::abs(&other - &top) > 1 || other.node == top.node ||
             other.score < top.score - low_enough * std::abs(top.score);
    };
    return std::ranges::all_of(points, far_below);
  }

  [[nodiscard]] bool next_to_unweighted(const Outer& outer) const {
    if (!anchored()) return false;
    return kind_.low > *kind_.anchor ? outer[0] <= kind_.close : outer[0] >= kind_.close;
  }

  /// The best lambda of a line as a position, and its score.
  struct Ridge {
    double at;
    double lambda;
    Place best;
    double score;
  };
  [[nodiscard]] Ridge ridge_of(const Outer& outer, const std::vector<LinePoint>& points, int k) const {
    const LineAdvice advice = advise_lambda(outer, points);
    const Place best = place_of(std::ranges::max(points, {}, &LinePoint::score).node, outer);
    const double lambda = std::max(advice.top, flank_of(points) - before_flank);
    return {axis(k).position[outer[k - 1]], lambda, best, scores_.score.at(best)};
  }

  /// How far the line stays near its top towards large lambda. On a plateau the top is anywhere, but this
  /// moves with alpha as a top would.
  [[nodiscard]] double flank_of(const std::vector<LinePoint>& points) const {
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

  /// The lines that differ from `here` on axis k alone, with the unweighted one beside them if there is one.
  [[nodiscard]] std::map<int, Ridge> ridge_along(int k, const Outer& here, bool looks) const {
    std::map<int, Ridge> ridge;
    const auto add = [&](const Outer& outer, const std::vector<LinePoint>& points) {
      Outer moved = outer;
      moved[k - 1] = here[k - 1];
      if (moved == here && (looks || points.size() > 1))
        ridge.emplace(outer[k - 1], ridge_of(outer, points, k));
    };
    for (const auto& [outer, points] : lines_) add(outer, points);
    if (k == alpha_axis_index && anchored() && kind_.beside) {
      std::map<Outer, std::vector<LinePoint>> beside;
      for (const auto& [place, score] : scores_.score) {
        if (place[alpha_axis_index] == *kind_.anchor) beside[outer_of(place)].push_back({place[0], score});
      }
      for (const auto& [outer, points] : beside) add(outer, points);
    }
    return ridge;
  }

  /// Looks along an axis through the best place; whether that lies inside of what was tried there.
  bool follow_axis(int k, const Outer& here) {
    const bool alpha = k == alpha_axis_index;
    Line line{.axis = &axis(k),
              .low = alpha ? kind_.low : 0,
              .high = alpha ? kind_.high : axis(k).nodes() - 1,
              .start = here[k - 1],
              .step = axis(k).step,
              .fine = axis(k).fine,
              .finer = axis(k).fine,
              .lost = false,
              .depth = depth(),
              .noise = {}};
    if (line.low == line.high) return true;
    const std::map<int, Ridge> ridge = ridge_along(k, here, true);
    if (alpha && anchored()) {
      if (kind_.beside) {
        line.low = std::min(line.low, *kind_.anchor);
        line.high = std::max(line.high, *kind_.anchor);
      }
      for (const int node : kind_.first) {
        if (!ridge.contains(node) && wanted_.empty()) begin_on_axis(k, here, node);
      }
      if (!wanted_.empty()) return true;
    }
    line.noise = [&](int a, int b) { return noise(ridge.at(a).best, ridge.at(b).best); };
    if (alpha) {
      line.finer = line.fine / 2;
      line.undecided = [&](int best, int beside) {
        const double error = line.noise(best, beside);
        return error > few_users && ridge.at(best).score - ridge.at(beside).score < error;
      };
    }
    std::vector<LinePoint> points;
    for (const auto& [node, found] : ridge) points.push_back({node, found.score});
    const LineAdvice advice = advise(line, points);
    for (const int node : advice.wanted) begin_on_axis(k, here, node);
    return advice.interior || (alpha && anchored() && advice.best == *kind_.anchor);
  }

  void begin_on_axis(int k, Outer outer, int node) {
    const Outer here = outer;
    outer[k - 1] = node;
    if (k == alpha_axis_index && anchored() && node == *kind_.anchor) return;
    begin_line(outer, here, k);
  }

  /// Begins a line where those on the axis through `from` say that the best lambda will be.
  void begin_line(const Outer& outer, const Outer& from, int k = alpha_axis_index) {
    const double at = axis(k).position[outer[k - 1]];
    const std::map<int, Ridge> along = ridge_along(k, from, false);
    std::vector<Ridge> ridge;
    for (const auto& [node, found] : along) ridge.push_back(found);
    std::ranges::stable_sort(ridge, {}, [&](const Ridge& each) { return std::abs(each.at - at); });
    double lambda = axis(0).position[scores_best_lambda(from)];
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
    // On every second node lines meet in the same lambdas, whose inverse they share.
    lambda = std::round(lambda * coarse_nodes) / coarse_nodes;
    want(outer, advise(line_of(outer, axis(0).nearest(lambda), false), {}));
  }

  /// The best lambda known for a place, or for any.
  [[nodiscard]] int scores_best_lambda(const Outer& outer) const {
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

  /// Weights next to 1 are nearly none: what is worse than no weights was not searched well enough.
  void check_against_unweighted() {
    if (!anchored() || !unweighted_->best || !best_) return;
    const Place& beside = *unweighted_->best;
    const double missing = scores_.score.at(beside) - best_score_;
    if (missing <= noise(beside, *best_) / 4) return;
    const bool above = kind_.low > *kind_.anchor;
    Place closest = beside;
    closest[alpha_axis_index] = above ? kind_.low : kind_.high;
    if (!scores_.score.contains(closest)) wanted_.push_back(closest);
  }

  [[nodiscard]] std::vector<Place> curve() const {
    std::map<int, Place> best;
    for (const auto& [outer, points] : lines_) {
      const LinePoint& top = *std::ranges::max_element(points, {}, &LinePoint::score);
      if (!std::isfinite(top.score)) continue;
      const Place place = place_of(top.node, outer);
      const auto [known, first] = best.emplace(outer[0], place);
      if (!first && scores_.score.at(known->second) < top.score) known->second = place;
    }
    std::vector<Place> places;
    for (const auto& [alpha, place] : best) places.push_back(place);
    return places;
  }

  const ProfileSpace& space_;
  const ProfileScores& scores_;
  const ProfileKind& kind_;
  const Profile* unweighted_;
  std::map<Outer, std::vector<LinePoint>> lines_;
  std::optional<Place> best_;
  double best_score_ = -std::numeric_limits<double>::infinity();
  std::vector<Place> wanted_;
};

}  // namespace

std::vector<ProfileKind> kinds_of(const Axis& alpha, std::optional<double> unweighted) {
  const int last = alpha.nodes() - 1;
  if (!unweighted) return {{.kind = RowKind::weighted, .low = 0, .high = last}};
  std::vector<ProfileKind> kinds;
  const auto found = std::ranges::find(alpha.value, *unweighted);
  std::optional<int> anchor;
  if (found != alpha.value.end()) {
    anchor = static_cast<int>(found - alpha.value.begin());
    kinds.push_back({.kind = RowKind::unweighted, .low = *anchor, .high = *anchor});
  }
  const bool slope = *unweighted == 0;
  const auto put = [&](RowKind row, int low, int high, double side) {
    if (low > high) return;
    ProfileKind kind{.kind = row, .low = low, .high = high, .anchor = anchor, .beside = !slope};
    const auto node = [&](double at) { return std::clamp(alpha.nearest(at), low, high); };
    kind.close = node(slope ? std::log10(close_slope) : side * close_by);
    for (const double each : slope ? first_slopes : first_distances)
      kind.first.push_back(node(slope ? std::log10(each) : side * each));
    kinds.push_back(kind);
  };
  const auto index = [&](auto bound) { return static_cast<int>(bound - alpha.value.begin()); };
  put(RowKind::weighted, index(std::ranges::upper_bound(alpha.value, *unweighted)), last, 1);
  put(RowKind::down_weighted, 0, index(std::ranges::lower_bound(alpha.value, *unweighted)) - 1, -1);
  return kinds;
}

std::vector<Profile> profiles_of(const ProfileSpace& space, const ProfileScores& scores) {
  std::vector<Profile> profiles;
  const bool has_unweighted = space.kinds.front().kind == RowKind::unweighted;
  for (const ProfileKind& kind : space.kinds) {
    const Profile* const unweighted = has_unweighted && !profiles.empty() ? &profiles.front() : nullptr;
    profiles.push_back(KindSearch(space, scores, kind, unweighted).run());
  }
  return profiles;
}

std::vector<Place> next_round(const std::vector<Profile>& profiles) {
  std::vector<Place> round;
  for (const Profile& profile : profiles) {
    for (std::size_t k = 0; k < profile.wanted.size(); ++k) {
      const Place& place = profile.wanted[k];
      const bool new_line = k == 0 || outer_of(place) != outer_of(profile.wanted[k - 1]);
      if (new_line && round.size() >= round_size) return round;
      round.push_back(place);
    }
  }
  return round;
}

}  // namespace poise
