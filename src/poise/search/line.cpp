#include "poise/search/line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace poise {
namespace {

constexpr double least_gain = 1e-4;      ///< smaller gains of any metric do not count
constexpr double share_of_noise = 0.25;  ///< a gain must exceed this share of the paired standard error
constexpr double believed_rise =
    0.02;                            ///< share of the score: a larger rise between two points is not expected
constexpr double steep_fall = 0.08;  ///< of the score, a decade: a parabola is no guide beside such a fall
constexpr double growth = 1.6;
constexpr double farthest = 2;  ///< the longest extrapolation, in gaps
constexpr double wide = 0.4;    ///< a wider gap is extended by one gap only

/// Through three points; without a top, the end that rises.
struct Parabola {
  double top = 0;
  double value = 0;
};

struct Spot {
  double x;
  double score;
};

/// The top of the parabola through three spots, between two positions.
Parabola parabola(const Spot& a, const Spot& b, const Spot& c, double low, double high) {
  const double slope_ab = (b.score - a.score) / (b.x - a.x);
  const double slope_bc = (c.score - b.score) / (c.x - b.x);
  const double curvature = (slope_bc - slope_ab) / (c.x - a.x);
  const auto value = [&](double x) { return b.score + (x - b.x) * (slope_ab + curvature * (x - a.x)); };
  const auto at = [&](double x) { return Parabola{x, value(x)}; };
  if (curvature < 0) {
    const double top = (a.x + b.x) / 2 - slope_ab / (2 * curvature);
    return at(std::clamp(top, low, high));
  }
  return value(low) > value(high) ? at(low) : at(high);
}

class Advisor {
 public:
  Advisor(const Line& line, std::vector<LinePoint> points) : line_(line), points_(std::move(points)) {
    // A point without a model is placed below all others, but not so far that it distorts the parabola.
    double lowest = 0;
    double highest = -std::numeric_limits<double>::infinity();
    for (const LinePoint& point : points_) {
      if (std::isfinite(point.score)) lowest = std::min(lowest, point.score);
      highest = std::max(highest, point.score);
    }
    for (LinePoint& point : points_) {
      if (!std::isfinite(point.score)) point.score = lowest - 1;
      if (std::isfinite(highest))
        point.score = std::max(point.score, highest - line_.depth * std::abs(highest));
    }
  }

  LineAdvice run() {
    if (points_.empty()) return begin();
    best_ = best();
    advice_.best = points_[best_].node;
    advice_.top = x(best_);
    if (points_.size() == 1) return widen();
    if (line_.lost && all_flat() && extend()) return advice_;
    if (best_ == 0 && points_.front().node > line_.low) return at_edge(1);
    if (best_ == last() && points_.back().node < line_.high) return at_edge(-1);
    if (best_ == 0 || best_ == last()) return at_limit(best_ == 0 ? 1 : -1);
    return inside();
  }

 private:
  [[nodiscard]] int last() const { return static_cast<int>(points_.size()) - 1; }
  [[nodiscard]] double x(int k) const { return line_.axis->position[points_[k].node]; }
  [[nodiscard]] double score(int k) const { return points_[k].score; }
  [[nodiscard]] Spot spot(int k) const { return {x(k), score(k)}; }

  /// Of equal points the one beside a drop, so that a plateau is left where the score changes.
  [[nodiscard]] int best() const {
    int first = 0;
    for (int k = 1; k <= last(); ++k) {
      if (score(k) > score(first)) first = k;
    }
    int end = first;
    while (end < last() && score(end + 1) == score(first)) ++end;
    if (first == 0 && end < last()) return end;
    return end == last() && first > 0 ? first : (first + end) / 2;
  }

  /// The paired standard error of the best and another point.
  [[nodiscard]] double noise(int k) const {
    return line_.noise ? line_.noise(points_[best_].node, points_[k].node) : 0;
  }

  [[nodiscard]] double tolerance(int a, int b) const {
    const double noise = line_.noise ? line_.noise(points_[a].node, points_[b].node) : 0;
    return std::max(share_of_noise * noise, least_gain);
  }

  [[nodiscard]] bool known(int node) const {
    return std::ranges::find(points_, node, &LinePoint::node) != points_.end();
  }
  void want(int node) {
    node = std::clamp(node, line_.low, line_.high);
    if (!known(node) && std::ranges::find(advice_.wanted, node) == advice_.wanted.end())
      advice_.wanted.push_back(node);
  }

  LineAdvice begin() {
    want(line_.start);
    want(line_.start - line_.step);
    want(line_.start + line_.step);
    std::ranges::sort(advice_.wanted);
    return advice_;
  }

  LineAdvice widen() {
    want(points_[0].node - line_.step);
    want(points_[0].node + line_.step);
    advice_.interior = line_.low == line_.high;
    return advice_;
  }

  /// The best is an end; `inward` is the direction to the other points.
  LineAdvice at_edge(int inward) {
    const int next = best_ + inward;
    const double gain = score(best_) - score(next);
    const double gap = x(best_) - x(next);  // signed: outward
    const double allowed = tolerance(best_, next);
    double target = x(best_) + (std::abs(gap) < wide ? growth : 1) * gap;
    if (points_.size() > 2) {
      const double near = x(best_) + gap;
      const double far = x(best_) + (std::abs(gap) < wide ? farthest : 1) * gap;
      const Parabola guess =
          parabola(spot(next + inward), spot(next), spot(best_), std::min(near, far), std::max(near, far));
      target = guess.top;
      if (out_of_reach(guess.value)) return advice_;
      if (gain <= allowed && guess.value - score(best_) <= allowed) {
        // Flat: an equal point that has a point beyond it is as good.
        best_ = next;
        advice_.best = points_[best_].node;
        advice_.top = x(best_);
        return inside();
      }
    }
    const int node = line_.axis->nearest(target);
    want(node == points_[best_].node ? node - inward * line_.axis->stride : node);
    return advice_;
  }

  /// Extends both ways by the first gap; returns whether there is a node to try.
  bool extend() {
    const double gap = x(1) - x(0);
    if (points_.front().node > line_.low) want(line_.axis->nearest(x(0) - gap));
    if (points_.back().node < line_.high) want(line_.axis->nearest(x(last()) + gap));
    return !advice_.wanted.empty();
  }

  [[nodiscard]] bool all_flat() const {
    const auto [low, high] = std::ranges::minmax(points_, {}, &LinePoint::score);
    const double noise = line_.noise ? line_.noise(points_.front().node, points_.back().node) : 0;
    return high.score - low.score <= std::max(2 * noise, least_gain);
  }

  /// The best is the last node that may be tried.
  LineAdvice at_limit(int inward) {
    const int next = best_ + inward;
    if (points_.size() > 2) {
      const double low = std::min(x(best_), x(next));
      const double high = std::max(x(best_), x(next));
      const Parabola guess = parabola(spot(best_), spot(next), spot(next + inward), low, high);
      if (guess.value - score(best_) > tolerance(best_, next)) {
        advice_.top = guess.top;
        want_between(std::min(best_, next), guess.top);
      }
    }
    // The end may not be eligible, so the gap beside it is tried as well.
    for (int k = best_; k != best_ + 2 * inward && advice_.wanted.empty(); k += inward) {
      const int other = k + inward;
      if (other < 0 || other > last()) break;
      if (std::abs(x(k) - x(other)) > line_.fine) bisect(std::min(k, other));
    }
    return advice_;
  }

  LineAdvice inside() {
    advice_.interior = true;
    const int l = best_ - 1;
    const int r = best_ + 1;
    const double left = x(best_) - x(l);
    const double right = x(r) - x(best_);
    const Parabola guess = parabola(spot(l), spot(best_), spot(r), x(l), x(r));
    advice_.top = guess.top;
    if (out_of_reach(guess.value)) return advice_;
    const bool wide_left = left > fine_beside(l);
    const bool wide_right = right > fine_beside(r);
    if (left > 2 * fine_beside(l) || right > 2 * fine_beside(r)) {
      // Too wide for a parabola: the top may lie right before a cliff.
      if (wide_left) bisect(l);
      if (wide_right) bisect(best_);
    }
    look_before_cliffs();
    if (advice_.wanted.empty()) {
      const int nearer = score(l) > score(r) ? l : r;
      if (guess.value - score(best_) > tolerance(best_, nearer))
        want_between(guess.top < x(best_) ? l : best_, guess.top);
      if (advice_.wanted.empty() && wide_left) bisect(l);
      if (advice_.wanted.empty() && wide_right) bisect(best_);
      if (advice_.wanted.empty() && line_.sharp) look_beside_sharp_top();
      if (advice_.wanted.empty() && line_.sharp && score(best_) >= line_.rival) look_at_shoulders();
      if (advice_.wanted.empty() && line_.middles) {
        want_middle(l);
        want_middle(best_);
      }
    }
    return advice_;
  }

  /// Where scores fall steeply the top may lie between the nodes, in a gap beside the best.
  void look_beside_sharp_top() {
    const double left = promise_beside(-1);
    const double right = promise_beside(1);
    const double least = std::max(score(best_), line_.rival);
    if (std::max(left, right) <= least) return;
    if (left >= right) want_middle(best_ - 1);
    if (right >= left) want_middle(best_);
  }

  /// A narrow ridge: the scores fall steeply on either side of the points that equal the best. No gap between
  /// the best and its neighbours stays wider than a node then, and none at a steep fall wider than two.
  void look_at_shoulders() {
    std::array<int, 2> shoulder{};
    for (const int side : {-1, 1}) {
      int k = best_;
      const auto equals = [&](int other) {
        return score(best_) - score(other) <= std::max(noise(other), least_gain);
      };
      while (k + side > 0 && k + side < last() && equals(k + side)) k += side;
      const double gap = std::abs(x(k + side) - x(k));
      if (!within_reach(k + side) || !is_steep(score(k) - score(k + side), gap)) return;
      shoulder[side > 0 ? 1 : 0] = std::min(k, k + side);
    }
    advice_.narrow = true;
    for (const int k : shoulder) {
      if (points_[k + 1].node - points_[k].node > 2) want_middle(k);
    }
    want_middle(best_ - 1);
    want_middle(best_);
  }

  /// How high the gap on that side of the best may rise: as the scores on the other side of the best do,
  /// until that meets the rise of the scores beyond the gap, or to the end of a gap that hides a cliff. Less
  /// than the best if neither side falls steeply.
  [[nodiscard]] double promise_beside(int side) const {
    const int near = best_ + side;
    const double gap = std::abs(x(near) - x(best_));
    const auto fall = [&](int k) { return (score(best_) - score(k)) / std::abs(x(k) - x(best_)); };
    const double rise = fall(best_ - side);
    if (!falls_steeply(near) && !falls_steeply(best_ - side)) return score(best_) - 1;
    const int beyond = near + side;
    double at = gap;
    if (beyond >= 0 && beyond <= last()) {
      const double back = (score(near) - score(beyond)) / std::abs(x(beyond) - x(near));
      const double met = score(near) + back * gap - score(best_);
      if (met >= 0 && rise + back > 0) at = std::min(gap, met / (rise + back));
    }
    return score(best_) + rise * at - tolerance(best_, near);
  }

  /// Within two steps of the ordinary nodes: a smooth top does that only over wider gaps.
  [[nodiscard]] bool falls_steeply(int k) const {
    return within_reach(k) && is_steep(score(best_) - score(k), std::abs(x(k) - x(best_)));
  }
  [[nodiscard]] bool within_reach(int k) const {
    return std::abs(points_[k].node - points_[best_].node) <= 2 * line_.axis->stride;
  }
  [[nodiscard]] bool is_steep(double fall, double gap) const {
    return fall > steep_fall * std::abs(score(best_)) * gap;
  }

  /// The node in the middle between point k and the next one, be it an ordinary one or not.
  void want_middle(int k) { want((points_[k].node + points_[k + 1].node) / 2); }

  /// The widest gap that may remain between the best and a neighbour. If many users show that both are almost
  /// equal, nothing that matters is hidden in it.
  [[nodiscard]] double fine_beside(int k) const {
    const bool closely = line_.undecided ? line_.undecided(points_[best_].node, points_[k].node)
                                         : score(best_) - score(k) + 2 * noise(k) > line_.may_hide;
    return closely ? line_.finer : line_.fine;
  }

  /// The top of a plateau may lie right before the cliff at its end: neither its last gap nor the gap to the
  /// cliff may stay wide.
  void look_before_cliffs() {
    const auto high = [&](int k) {
      return score(k) >= score(best_) - believed_rise * std::abs(score(best_));
    };
    int first = best_;
    int end = best_;
    while (first > 0 && high(first - 1)) --first;
    while (end < last() && high(end + 1)) ++end;
    const auto look = [&](int k) {
      if (k >= 0 && k < last() && x(k + 1) - x(k) > 2 * line_.finer) bisect(k);
    };
    if (first > 0) look(first - 1);
    if (first > 0 && first < end) look(first);
    if (end < last()) look(end);
    if (end < last() && first < end) look(end - 1);
  }

  /// Whether the line cannot reach the highest score of other lines.
  [[nodiscard]] bool out_of_reach(double promised) const {
    return std::max(promised, score(best_) + believed_rise * std::abs(score(best_))) < line_.rival;
  }

  void bisect(int k) { want_between(k, (x(k) + x(k + 1)) / 2); }

  /// The ordinary node nearest to a position strictly between point k and the next one, if there is one.
  void want_between(int k, double at) {
    const int stride = line_.axis->stride;
    const int low = (points_[k].node / stride + 1) * stride;
    const int high = (points_[k + 1].node - 1) / stride * stride;
    if (low <= high) want(std::clamp(line_.axis->nearest(at), low, high));
  }

  const Line& line_;
  std::vector<LinePoint> points_;
  int best_ = 0;
  LineAdvice advice_;
};

}  // namespace

LineAdvice advise(const Line& line, const std::vector<LinePoint>& points) {
  return Advisor(line, points).run();
}

}  // namespace poise
