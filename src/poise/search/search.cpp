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

/// Each setting once with every value of an axis, if it has any.
template <class T>
void vary(std::vector<ModelParameters>& settings, const std::vector<T>& axis,
          void (*set)(ModelParameters&, T)) {
  if (axis.empty()) return;
  std::vector<ModelParameters> varied;
  for (const ModelParameters& setting : settings) {
    for (const T value : axis) set(varied.emplace_back(setting), value);
  }
  settings = std::move(varied);
}

void set_rank(ModelParameters& point, std::int64_t value) { point.rank = value; }
void set_neighbours(ModelParameters& point, std::int64_t value) { point.neighbours = value; }
void set_scheme(ModelParameters& point, Scheme value) { point.weighting.scheme = value; }
void set_lambda(ModelParameters& point, double value) { point.lambda = value; }
void set_alpha(ModelParameters& point, double value) { point.weighting.alpha = value; }
void set_dropout(ModelParameters& point, double value) { point.dropout = value; }
void set_exponent(ModelParameters& point, double value) { point.lambda_exponent = value; }
void set_feature_weight(ModelParameters& point, double value) { point.feature_weight = value; }
void set_alpha_negative(ModelParameters& point, double value) { point.weighting.alpha_negative = value; }
void set_gamma(ModelParameters& point, double value) { point.weighting.gamma = value; }

/// The parameters of points while searching. Rounds of wmf cost little, and its last ones change the metric
/// much, so the search by profiles trains it to convergence: it searches the models that will be chosen.
ModelParameters while_searching(ModelParameters base, SearchMethod method) {
  const bool converged = method == SearchMethod::best && base.family == Family::wmf;
  if (base.low_rank() && !converged) {
    base.least_decrease = std::max(base.least_decrease, searching_decrease);
    base.tolerance = std::max(base.tolerance, searching_tolerance);
  }
  return base;
}

/// All settings of the parameters other than lambda and alpha, one ModelParameters each.
std::vector<ModelParameters> settings_of(const SearchSpace& space) {
  std::vector<ModelParameters> settings = {while_searching(space.base, SearchMethod::grid)};
  vary(settings, space.rank, set_rank);
  vary(settings, space.dropout, set_dropout);
  vary(settings, space.lambda_exponent, set_exponent);
  vary(settings, space.feature_weight, set_feature_weight);
  vary(settings, space.alpha_negative, set_alpha_negative);
  vary(settings, space.gamma, set_gamma);
  vary(settings, space.scheme, set_scheme);
  vary(settings, space.neighbours, set_neighbours);
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
  // Without weights alpha has no effect: all of its values are one point.
  parameters.weighting.alpha = parameters.weighting.scheme == Scheme::none ? 1 : point.alpha;
  return parameters;
}

/// Thrown to leave explore() in search_grid() if time or points run out, with the points that were left.
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
  std::vector<ModelParameters> settings = {while_searching(space.base, SearchMethod::best)};
  vary(settings, space.rank, set_rank);
  vary(settings, space.scheme, set_scheme);
  vary(settings, space.neighbours, set_neighbours);
  return settings;
}

void validate(const SearchSpace& space) {
  if (space.method == SearchMethod::grid) {
    if (space.lambda.empty()) fail(ErrorKind::usage, "{} needs at least one value", "lambda"_p);
    if (space.alpha.empty()) fail(ErrorKind::usage, "{} needs at least one value", "alpha"_p);
  } else {
    // The ends of ranges, one at a time.
    for (const ModelParameters& setting : discrete_settings(space)) {
      const auto check = [&](const std::vector<double>& values, auto set) {
        for (const double value : values) {
          ModelParameters point = setting;
          point.weighting.alpha = 1;
          set(point, value);
          validate(point);
        }
      };
      check(space.lambda, set_lambda);
      if (setting.weighting.scheme != Scheme::none) check(space.alpha, set_alpha);
      check(space.dropout, set_dropout);
      check(space.lambda_exponent, set_exponent);
      check(space.feature_weight, set_feature_weight);
      check(space.alpha_negative, set_alpha_negative);
      check(space.gamma, set_gamma);
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
  // Some five times as many, as on the data sets of docs/search.md.
  return std::min(5 * first, space.most_points.value_or(5 * first));
}

void check_memory(const SearchSpace& space, const UserRows& X, CsrView features, std::uint64_t memory_limit) {
  std::set<std::map<std::string, std::string>> checked;
  for (const ModelParameters& point : first_points(space)) {
    const ModelParameters costly = cost_parameters(point);
    if (checked.insert(option_texts(costly)).second)
      check_memory(costly, {X.items, features}, memory_limit, weights_of(costly, X), nullptr,
                   space.both_diagonals);
  }
}

SearchResult best_of(const Points& points, std::vector<ModelParameters> measured) {
  const Metric& choice = points.options().choice;
  SearchResult result;
  std::set<std::string> seen;
  const auto take = [&](std::optional<ModelParameters>& best, const ModelParameters& point) {
    if (!best || points.at(point).score(choice) > points.at(*best).score(choice)) best = point;
  };
  std::erase_if(measured,
                [&](const ModelParameters& point) { return !seen.insert(points.key(point)).second; });
  for (const ModelParameters& point : measured) {
    if (std::isfinite(points.at(point).score(choice))) take(result.*best_of_kind(kind_of(point)), point);
    const PointResult& figures = points.at(point);
    if (figures.failure.empty()) {
      const std::int64_t users = figures.cut ? figures.cut->users : points.users();
      result.scorings.done += users;
      result.scorings.spared += points.users() - users;
    }
  }
  result.points = std::move(measured);
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
  curve.reserve(best.size());
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
