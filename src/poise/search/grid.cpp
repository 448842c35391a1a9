#include "poise/search/grid.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "poise/search/three_digits.hpp"

namespace poise {
namespace {

constexpr double least_improvement = 1e-5;
constexpr int most_steps = 4;

double middle(double a, double b) { return three_digits(std::sqrt(a * b)); }

/// The search for one kind of points.
class Exploration {
 public:
  Exploration(const Grid& grid, const Surface& surface, RowKind kind, std::set<GridPoint>& measured)
      : grid_(grid), surface_(surface), kind_(kind), measured_(measured) {}

  std::optional<Best> run() {
    add(grid_points(grid_));
    if (!best_) return {};
    if (grid_.expand) expand();
    for (int level = 0; level < grid_.refine; ++level) {
      if (grid_.lambda.size() > 1) refine(&GridPoint::lambda);
      if (alphas().size() > 1) refine(&GridPoint::alpha);
    }
    return best_;
  }

 private:
  /// Adds the new ones among the points of this kind.
  void add(std::vector<GridPoint> points) {
    std::erase_if(points, [&](const GridPoint& point) { return surface_.kind(point) != kind_; });
    std::vector<GridPoint> unknown;
    for (const GridPoint& point : points) {
      if (measured_.insert(point).second) unknown.push_back(point);
    }
    if (!unknown.empty()) surface_.measure(unknown);
    points_.insert(points.begin(), points.end());
    best_.reset();
    for (const GridPoint& point : points_) {
      const double score = surface_.score(point);
      if (!best_ || score > best_->score) best_ = {point, score};
    }
  }

  /// The values of all points at the best point's setting, ascending.
  [[nodiscard]] std::vector<double> values(double GridPoint::*axis) const {
    std::set<double> values;
    for (const GridPoint& point : points_) {
      if (point.setting == best_->point.setting) values.insert(point.*axis);
    }
    return {values.begin(), values.end()};
  }
  [[nodiscard]] std::vector<double> lambdas() const { return values(&GridPoint::lambda); }
  [[nodiscard]] std::vector<double> alphas() const { return values(&GridPoint::alpha); }

  void expand() {
    const std::vector<double>& lambda = grid_.lambda;
    if (lambda.size() > 1) {
      extend(&GridPoint::lambda, lambda[0] / lambda[1]);
      extend(&GridPoint::lambda, lambda[lambda.size() - 1] / lambda[lambda.size() - 2]);
    }
    if (grid_.alpha.size() > 1 && kind_ == RowKind::weighted) {
      extend(&GridPoint::alpha, 2);
      // A larger alpha may need another lambda.
      if (lambda.size() > 1) {
        extend(&GridPoint::lambda, lambda[0] / lambda[1]);
        extend(&GridPoint::lambda, lambda[lambda.size() - 1] / lambda[lambda.size() - 2]);
      }
    }
  }

  /// Extends the axis by `factor` while the best lies on that edge.
  void extend(double GridPoint::*axis, double factor) {
    int& steps = steps_[axis == &GridPoint::alpha ? 2 : factor < 1 ? 0 : 1];
    while (steps < most_steps) {
      const std::vector<double> known = values(axis);
      const double edge = factor < 1 ? known.front() : known.back();
      if (best_->point.*axis != edge || !(edge * factor > 0)) return;
      const double next = three_digits(edge * factor);
      std::vector<GridPoint> points;
      for (const double other : axis == &GridPoint::alpha ? lambdas() : alphas()) {
        GridPoint point = best_->point;
        (axis == &GridPoint::alpha ? point.lambda : point.alpha) = other;
        point.*axis = next;
        points.push_back(point);
      }
      const double before = best_->score;
      ++steps;
      add(std::move(points));
      if (best_->score - before < least_improvement) return;
    }
  }

  /// Halves the distance from the best to its neighbours on an axis.
  void refine(double GridPoint::*axis) {
    std::vector<double> known = values(axis);
    // The unweighted model has weights of 1, which bounds the others.
    if (axis == &GridPoint::alpha && kind_ == RowKind::weighted && known.front() > 1)
      known.insert(known.begin(), 1);
    if (axis == &GridPoint::alpha && kind_ == RowKind::down_weighted) known.push_back(1);
    const double at = best_->point.*axis;
    const auto here = std::ranges::find(known, at);
    const bool first = here == known.begin();
    const bool last = here + 1 == known.end();
    std::vector<GridPoint> points;
    const auto put = [&](double value) {
      GridPoint point = best_->point;
      point.*axis = value;
      if (value != at) points.push_back(point);
    };
    // At an end both sides use the spacing of the inner side; 0 has no logarithm.
    if ((!first || !last) && known.front() > 0) {
      put(middle(at, first ? at * at / *(here + 1) : *(here - 1)));
      put(middle(at, last ? at * at / *(here - 1) : *(here + 1)));
    }
    add(std::move(points));
  }

  const Grid& grid_;
  const Surface& surface_;
  RowKind kind_;
  std::set<GridPoint>& measured_;
  std::set<GridPoint> points_;
  std::optional<Best> best_;
  int steps_[3] = {0, 0, 0};
};

}  // namespace

std::string_view to_string(RowKind kind) {
  constexpr std::string_view names[] = {"unweighted", "weighted", "down-weighted"};
  return names[static_cast<int>(kind)];
}

std::vector<GridPoint> grid_points(const Grid& grid) {
  std::vector<GridPoint> points;
  for (std::size_t setting = 0; setting < grid.settings; ++setting) {
    for (const double lambda : grid.lambda) {
      for (const double alpha : grid.alpha) points.push_back({setting, lambda, alpha});
    }
  }
  return points;
}

Explored explore(const Grid& grid, const Surface& surface) {
  // In one call, so that points that share work come together.
  const std::vector<GridPoint> first = grid_points(grid);
  surface.measure(first);
  std::set<GridPoint> measured(first.begin(), first.end());
  Explored explored;
  explored.unweighted = Exploration(grid, surface, RowKind::unweighted, measured).run();
  explored.weighted = Exploration(grid, surface, RowKind::weighted, measured).run();
  explored.down_weighted = Exploration(grid, surface, RowKind::down_weighted, measured).run();
  explored.points.assign(measured.begin(), measured.end());
  return explored;
}

}  // namespace poise
