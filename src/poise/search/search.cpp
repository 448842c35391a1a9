#include "poise/search/search.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "poise/base/error.hpp"
#include "poise/train/cost.hpp"

namespace poise {
namespace {

constexpr double searching_decrease = 1e-4;
constexpr double searching_tolerance = 1e-5;

template <class T>
std::vector<T> or_base(std::vector<T> axis, const T& base) {
  if (axis.empty()) axis.push_back(base);
  return axis;
}

/// All that is not lambda and alpha, one ModelParameters each.
std::vector<ModelParameters> settings_of(const SearchSpace& space) {
  ModelParameters base = space.base;
  if (base.low_rank()) {
    base.least_decrease = std::max(base.least_decrease, searching_decrease);
    base.tolerance = std::max(base.tolerance, searching_tolerance);
  }
  std::vector<ModelParameters> settings;
  for (const std::int64_t rank : or_base(space.rank, base.rank)) {
    for (const double dropout : or_base(space.dropout, base.dropout)) {
      for (const double exponent : or_base(space.lambda_exponent, base.lambda_exponent)) {
        for (const Scheme scheme : or_base(space.scheme, base.weighting.scheme)) {
          ModelParameters setting = base;
          setting.rank = rank;
          setting.dropout = dropout;
          setting.lambda_exponent = exponent;
          setting.weighting.scheme = scheme;
          settings.push_back(setting);
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

RowKind kind_of(const ModelParameters& parameters) {
  if (parameters.unweighted()) return RowKind::unweighted;
  const bool down = parameters.weighting.scheme == Scheme::constant && parameters.weighting.alpha < 1;
  return down ? RowKind::down_weighted : RowKind::weighted;
}

}  // namespace

void validate(const SearchSpace& space) {
  if (space.lambda.empty()) fail(ErrorKind::usage, "--lambda needs at least one value");
  if (space.alpha.empty()) fail(ErrorKind::usage, "--alpha needs at least one value");
  for (const ModelParameters& point : first_points(space)) validate(point);
}

std::vector<ModelParameters> first_points(const SearchSpace& space) {
  const std::vector<ModelParameters> settings = settings_of(space);
  std::vector<ModelParameters> points;
  for (const GridPoint& point : grid_points(grid_of(space, settings.size())))
    points.push_back(point_of(settings, point));
  return points;
}

void check_memory(const SearchSpace& space, CsrView X, std::uint64_t memory_limit) {
  std::set<std::map<std::string, std::string>> checked;
  for (const ModelParameters& point : first_points(space)) {
    const ModelParameters costly = cost_parameters(point);
    if (checked.insert(option_texts(costly)).second)
      check_memory(costly, X, memory_limit, space.both_diagonals);
  }
}

SearchResult search(Points& points, const SearchSpace& space) {
  validate(space);
  const std::vector<ModelParameters> settings = settings_of(space);
  const Metric& choice = points.options().choice;
  const auto parameters = [&](const GridPoint& point) { return point_of(settings, point); };
  const Surface surface{
      .measure =
          [&](std::span<const GridPoint> wanted) {
            std::vector<ModelParameters> batch;
            for (const GridPoint& point : wanted) batch.push_back(parameters(point));
            points.measure(std::move(batch), space.both_diagonals);
          },
      .score = [&](const GridPoint& point) { return points.at(parameters(point)).score(choice); },
      .kind = [&](const GridPoint& point) { return kind_of(parameters(point)); }};
  const Explored explored = explore(grid_of(space, settings.size()), surface);

  SearchResult result;
  std::optional<Best> best;
  const auto take = [&](const std::optional<Best>& found) -> std::optional<ModelParameters> {
    if (!found || !points.at(parameters(found->point)).failure.empty()) return {};
    if (!best || found->score > best->score) best = found;
    return parameters(found->point);
  };
  result.unweighted = take(explored.unweighted);
  result.weighted = take(explored.weighted);
  result.down_weighted = take(explored.down_weighted);
  if (best) result.best = parameters(best->point);
  std::vector<std::string> seen;
  for (const GridPoint& point : explored.points) {
    const std::string key = points.key(parameters(point));
    if (std::ranges::find(seen, key) != seen.end()) continue;
    seen.push_back(key);
    result.points.push_back(parameters(point));
  }
  return result;
}

ModelParameters to_convergence(ModelParameters parameters, const SearchSpace& space) {
  parameters.least_decrease = space.base.least_decrease;
  parameters.tolerance = space.base.tolerance;
  return parameters;
}

}  // namespace poise
