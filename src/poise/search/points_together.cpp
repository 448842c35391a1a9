#include <algorithm>
#include <iterator>
#include <numeric>

#include "poise/search/point_team.hpp"
#include "poise/search/points.hpp"

namespace poise {

void Points::drop_models() {
  held_ = {};
  if (team_ != nullptr) team_->drop_models();
}

/// measure() with other processes, for points that are not known, in the order that shares most.
std::vector<ModelParameters> Points::measure_together(const std::vector<ModelParameters>& points,
                                                      Diagonals diagonals, const Racing& racing) {
  std::vector<PointGroup> groups = PointTeam::groups_of(points, racing, diagonals);
  // The longest first: the others fill the gaps. All expectations are known before a thread uses the trainer.
  std::vector<double> expected;
  expected.reserve(groups.size());
  for (const PointGroup& group : groups) expected.push_back(expected_seconds(group.points));
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t k) { return expected[k]; });
  std::vector<PointGroup> ordered;
  ordered.reserve(groups.size());
  for (const std::size_t k : order) ordered.push_back(std::move(groups[k]));

  double left_seconds = std::accumulate(expected.begin(), expected.end(), 0.0);
  std::size_t left_points = points.size();
  std::vector<ModelParameters> left;
  const auto is_in = [&](const std::vector<ModelParameters>& list, const ModelParameters& point) {
    return std::ranges::any_of(list, [&](const ModelParameters& each) { return key(each) == key(point); });
  };
  team_->train(std::move(ordered), until_, [&](std::size_t group, PointAnswer answer) {
    left.insert(left.end(), answer.left.begin(), answer.left.end());
    left_seconds -= expected[order[group]];
    if (answer.left.empty()) {
      expected_ += expected[order[group]];
      taken_ += answer.seconds;
    }
    for (PointResult& result : answer.results) {
      const ModelParameters point = result.parameters;
      const bool first = find(point) == nullptr;
      // The other diagonal, which came along, may have been measured further elsewhere.
      const bool wanted = is_in(points, point);
      if (!first && !wanted) continue;
      keep(std::move(result));
      left_points -= std::min<std::size_t>(left_points, wanted ? 1 : 0);
      if (watcher_.trained && first && wanted)
        watcher_.trained(at(point), left_points, std::max(0.0, left_seconds) * pace() / team_->size());
    }
  });
  // In the order of one process.
  std::vector<ModelParameters> missing;
  std::ranges::copy_if(points, std::back_inserter(missing),
                       [&](const ModelParameters& point) { return is_in(left, point); });
  return missing;
}

}  // namespace poise
