#include "poise/search/search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "poise/base/error.hpp"
#include "poise/search/best.hpp"
#include "poise/search/best_settings.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {
namespace {

constexpr double searching_decrease = 1e-4;
constexpr double searching_tolerance = 1e-5;

template <class T>
std::vector<T> or_base(std::vector<T> axis, const T& base) {
  if (axis.empty()) axis.push_back(base);
  return axis;
}

/// How points are trained while searching. Rounds of wmf cost so little, and its last ones move the metric so
/// far, that by profiles it is trained to convergence: what is searched is what will be chosen.
ModelParameters while_searching(ModelParameters base, SearchMethod method) {
  const bool converged = method == SearchMethod::best && base.family == Family::wmf;
  if (base.low_rank() && !converged) {
    base.least_decrease = std::max(base.least_decrease, searching_decrease);
    base.tolerance = std::max(base.tolerance, searching_tolerance);
  }
  return base;
}

/// All that is not lambda and alpha, one ModelParameters each.
std::vector<ModelParameters> settings_of(const SearchSpace& space) {
  const ModelParameters base = while_searching(space.base, SearchMethod::grid);
  std::vector<ModelParameters> settings;
  for (const std::int64_t rank : or_base(space.rank, base.rank)) {
    for (const double dropout : or_base(space.dropout, base.dropout)) {
      for (const double exponent : or_base(space.lambda_exponent, base.lambda_exponent)) {
        for (const double gamma : or_base(space.gamma, base.weighting.gamma)) {
          for (const Scheme scheme : or_base(space.scheme, base.weighting.scheme)) {
            ModelParameters setting = base;
            setting.rank = rank;
            setting.dropout = dropout;
            setting.lambda_exponent = exponent;
            setting.weighting.gamma = gamma;
            setting.weighting.scheme = scheme;
            settings.push_back(setting);
          }
        }
      }
    }
  }
  return settings;
}

std::vector<double> sorted(std::vector<double> values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Grid grid_of(const SearchSpace& space, std::size_t settings) {
  return {.settings = settings,
          .lambda = sorted(space.lambda),
          .alpha = sorted(space.alpha),
          .expand = space.expand,
          .refine = space.refine};
}

ModelParameters point_of(const std::vector<ModelParameters>& settings, const GridPoint& point) {
  ModelParameters parameters = settings[point.setting];
  parameters.lambda = point.lambda;
  // Without weights alpha has nothing to say: all of its values are one point.
  parameters.weighting.alpha = parameters.weighting.scheme == Scheme::none ? 1 : point.alpha;
  return parameters;
}

/// How search_grid() leaves explore() when time or points run out, with what was left to do.
struct RanOut {
  std::vector<ModelParameters> missing;
};

SearchResult search_grid(Points& points, const SearchSpace& space) {
  const std::vector<ModelParameters> settings = settings_of(space);
  const Metric& choice = points.options().choice;
  const auto parameters = [&](const GridPoint& point) { return point_of(settings, point); };
  std::set<GridPoint> asked;
  const Surface surface{
      .measure =
          [&](std::span<const GridPoint> wanted) {
            std::vector<ModelParameters> batch;
            std::vector<ModelParameters> refused;
            for (const GridPoint& point : wanted) {
              const bool one_more = !space.most_points || asked.size() < *space.most_points;
              (one_more ? batch : refused).push_back(parameters(point));
              if (one_more) asked.insert(point);
            }
            std::vector<ModelParameters> left = points.measure(
                std::move(batch), space.both_diagonals ? Diagonals::both : Diagonals::as_asked);
            if (left.empty()) left = std::move(refused);
            if (!left.empty()) throw RanOut{std::move(left)};
          },
      .score = [&](const GridPoint& point) { return points.at(parameters(point)).score(choice); },
      .kind = [&](const GridPoint& point) { return kind_of(parameters(point)); }};
  std::vector<ModelParameters> measured;
  try {
    const Explored explored = explore(grid_of(space, settings.size()), surface);
    for (const GridPoint& point : explored.points) measured.push_back(parameters(point));
    return best_of(points, std::move(measured));
  } catch (RanOut& up) {
    for (const GridPoint& point : asked) {
      if (points.find(parameters(point)) != nullptr) measured.push_back(parameters(point));
    }
    SearchResult result = best_of(points, std::move(measured));
    result.complete = false;
    result.missing = std::move(up.missing);
    return result;
  }
}

}  // namespace

RowKind kind_of(const ModelParameters& parameters) {
  if (parameters.unweighted()) return RowKind::unweighted;
  const bool down = parameters.weighting.scheme == Scheme::constant && parameters.weighting.alpha < 1;
  return down ? RowKind::down_weighted : RowKind::weighted;
}

std::vector<ModelParameters> discrete_settings(const SearchSpace& space) {
  const ModelParameters base = while_searching(space.base, SearchMethod::best);
  std::vector<ModelParameters> settings;
  for (const std::int64_t rank : or_base(space.rank, base.rank)) {
    for (const Scheme scheme : or_base(space.scheme, base.weighting.scheme)) {
      ModelParameters setting = base;
      setting.rank = rank;
      setting.weighting.scheme = scheme;
      settings.push_back(setting);
    }
  }
  return settings;
}

void validate(const SearchSpace& space) {
  if (space.method == SearchMethod::grid) {
    if (space.lambda.empty()) fail(ErrorKind::usage, "{} needs at least one value", "lambda"_p);
    if (space.alpha.empty()) fail(ErrorKind::usage, "{} needs at least one value", "alpha"_p);
  } else {
    // The ends of ranges, each by itself.
    for (const ModelParameters& setting : discrete_settings(space)) {
      const auto check = [&](const std::vector<double>& values, auto set) {
        for (const double value : values) {
          ModelParameters point = setting;
          point.weighting.alpha = 1;
          set(point, value);
          validate(point);
        }
      };
      check(space.lambda, [](ModelParameters& point, double value) { point.lambda = value; });
      if (setting.weighting.scheme != Scheme::none)
        check(space.alpha, [](ModelParameters& point, double value) { point.weighting.alpha = value; });
      check(space.dropout, [](ModelParameters& point, double value) { point.dropout = value; });
      check(space.lambda_exponent,
            [](ModelParameters& point, double value) { point.lambda_exponent = value; });
      check(space.gamma, [](ModelParameters& point, double value) { point.weighting.gamma = value; });
    }
  }
  for (const ModelParameters& point : first_points(space)) validate(point);
}

std::vector<ModelParameters> first_points(const SearchSpace& space) {
  if (space.method == SearchMethod::best) return first_best_points(space);
  const std::vector<ModelParameters> settings = settings_of(space);
  std::vector<ModelParameters> points;
  for (const GridPoint& point : grid_points(grid_of(space, settings.size())))
    points.push_back(point_of(settings, point));
  return points;
}

std::size_t usual_points(const SearchSpace& space) {
  const std::size_t first = first_points(space).size();
  if (space.method == SearchMethod::grid) return first;
  // Some three times as many, by what three data sets took.
  return std::min(3 * first, space.most_points.value_or(3 * first));
}

void check_memory(const SearchSpace& space, CsrView X, std::uint64_t memory_limit) {
  std::set<std::map<std::string, std::string>> checked;
  for (const ModelParameters& point : first_points(space)) {
    const ModelParameters costly = cost_parameters(point);
    if (checked.insert(option_texts(costly)).second)
      check_memory(costly, X, memory_limit, weights_of(costly, X), nullptr, space.both_diagonals);
  }
}

SearchResult best_of(const Points& points, std::vector<ModelParameters> measured) {
  const Metric& choice = points.options().choice;
  SearchResult result;
  std::set<std::string> seen;
  const auto take = [&](std::optional<ModelParameters>& best, const ModelParameters& point) {
    if (!best || points.at(point).score(choice) > points.at(*best).score(choice)) best = point;
  };
  for (ModelParameters& point : measured) {
    if (!seen.insert(points.key(point)).second) continue;
    if (std::isfinite(points.at(point).score(choice))) {
      const RowKind kind = kind_of(point);
      take(kind == RowKind::unweighted ? result.unweighted
           : kind == RowKind::weighted ? result.weighted
                                       : result.down_weighted,
           point);
    }
    const PointResult& measured = points.at(point);
    if (measured.failure.empty()) {
      const std::int64_t users = measured.cut ? measured.cut->users : points.users();
      result.scorings.done += users;
      result.scorings.spared += points.users() - users;
    }
    result.points.push_back(std::move(point));
  }
  for (const auto& kind : {result.unweighted, result.weighted, result.down_weighted}) {
    if (kind) take(result.best, *kind);
  }
  return result;
}

std::vector<ModelParameters> best_of_each_alpha(const Points& points,
                                                std::span<const ModelParameters> measured, RowKind kind) {
  const Metric& choice = points.options().choice;
  std::map<double, ModelParameters> best;
  for (const ModelParameters& point : measured) {
    if (kind_of(point) != kind || !std::isfinite(points.at(point).score(choice))) continue;
    const auto [known, first] = best.emplace(point.weighting.alpha, point);
    if (!first && points.at(known->second).score(choice) < points.at(point).score(choice))
      known->second = point;
  }
  std::vector<ModelParameters> curve;
  for (const auto& [alpha, point] : best) curve.push_back(point);
  return curve;
}

bool lies_inside(std::span<const ModelParameters> measured, const ModelParameters& point) {
  // An axis of one value has no ends.
  const auto inside = [&](auto value, auto counts) {
    bool smaller = false;
    bool larger = false;
    for (const ModelParameters& other : measured) {
      if (!counts(other)) continue;
      smaller = smaller || value(other) < value(point);
      larger = larger || value(other) > value(point);
    }
    return smaller == larger;
  };
  const auto lambda = [](const ModelParameters& each) { return each.lambda; };
  const auto alpha = [](const ModelParameters& each) { return each.weighting.alpha; };
  return inside(lambda, [&](const ModelParameters& each) { return alpha(each) == alpha(point); }) &&
         (point.unweighted() || inside(alpha, [](const ModelParameters&) { return true; }));
}

SearchResult search(Points& points, const SearchSpace& space) {
  return std::move(search(points, std::span(&space, 1)).front());
}

std::vector<SearchResult> search(Points& points, std::span<const SearchSpace> spaces) {
  for (const SearchSpace& space : spaces) validate(space);
  if (spaces.front().method == SearchMethod::best) return search_best(points, spaces);
  std::vector<SearchResult> results;
  for (const SearchSpace& space : spaces) results.push_back(search_grid(points, space));
  return results;
}

ModelParameters to_convergence(ModelParameters parameters, const SearchSpace& space) {
  parameters.least_decrease = space.base.least_decrease;
  parameters.tolerance = space.base.tolerance;
  return parameters;
}

}  // namespace poise
