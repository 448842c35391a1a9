#include "poise/search/axis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "poise/search/three_digits.hpp"

namespace poise {
namespace {

struct Bounds {
  double low;
  double high;
  [[nodiscard]] bool contain(double value) const { return value >= low && value <= high; }
};

/// Nodes between ordinary values of alpha, for narrow ridges.
constexpr int alpha_stride = 2;

Bounds bounds_of(const std::vector<double>& range, double low, double high) {
  if (range.empty()) return {low, high};
  return {std::ranges::min(range), std::ranges::max(range)};
}

/// The values that lie within the bounds, and the given ends of the range.
std::vector<double> within(std::vector<double> values, const std::vector<double>& range,
                           const Bounds& bounds) {
  std::erase_if(values, [&](double value) { return !bounds.contain(value); });
  if (!range.empty()) values.insert(values.end(), {bounds.low, bounds.high});
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<double> decades(int from, int to, int nodes) {
  std::vector<double> values;
  for (int k = from * nodes; k <= to * nodes; ++k)
    values.push_back(three_digits(std::pow(10.0, static_cast<double>(k) / nodes)));
  return values;
}

Axis logarithmic(std::vector<double> values, double start, int step, double fine) {
  Axis axis{.value = std::move(values), .position = {}, .step = step, .fine = fine};
  for (const double value : axis.value) axis.position.push_back(std::log10(value));
  axis.start = axis.nearest(start);
  return axis;
}

/// The axis with further nodes between its own, evenly spaced in the logarithm.
Axis with_nodes_between(const Axis& coarse, int stride) {
  std::vector<double> values;
  for (int node = 0; node + 1 < coarse.nodes(); ++node) {
    values.push_back(coarse.value[node]);
    const double ratio = std::log10(coarse.value[node + 1] / coarse.value[node]) / stride;
    for (int k = 1; k < stride; ++k) {
      const double exact = coarse.value[node] * std::pow(10.0, k * ratio);
      const double rounded = three_digits(exact);
      const bool between = rounded > values.back() && rounded < coarse.value[node + 1];
      values.push_back(between ? rounded : exact);
    }
  }
  values.push_back(coarse.value.back());
  Axis axis = logarithmic(std::move(values), 0, stride * coarse.step, coarse.fine);
  axis.stride = stride;
  axis.start = stride * coarse.start;
  return axis;
}

}  // namespace

int Axis::nearest(double at) const {
  int best = 0;
  for (int node = stride; node < nodes(); node += stride) {
    if (std::abs(position[node] - at) < std::abs(position[best] - at)) best = node;
  }
  return best;
}

int Axis::nearest_of_all(double at) const {
  const auto found = std::ranges::min_element(position, {}, [&](double each) { return std::abs(each - at); });
  return static_cast<int>(found - position.begin());
}

Axis fixed_axis(double value) { return {.value = {value}, .position = {0}}; }

Axis lambda_axis(const std::vector<double>& range) {
  constexpr int a_decade = 12;
  constexpr int stride = 4;
  const Bounds bounds = bounds_of(range, 1e-6, 1e10);
  const double start = range.empty() ? 2 : (std::log10(bounds.low) + std::log10(bounds.high)) / 2;
  // A line whose best place is unknown starts with three points, 1.5 decades apart.
  return with_nodes_between(logarithmic(within(decades(-8, 12, a_decade), range, bounds), start, 18, 0.34),
                            stride);
}

Axis alpha_axis(const std::vector<double>& range) {
  const Bounds bounds = bounds_of(range, 1e-3, 1e3);
  std::vector<double> values = decades(-3, 3, 12);
  // Close to 1 weights change little; a weighted model whose best is almost unweighted ends at one of these.
  for (const double value : {0.91, 0.97, 1.03, 1.1}) values.push_back(value);
  return with_nodes_between(logarithmic(within(std::move(values), range, bounds), 0, 6, 0.2), alpha_stride);
}

Axis slope_axis(const std::vector<double>& range) {
  const Bounds bounds = bounds_of(range, 0, 1e4);
  std::vector<double> positive = within(decades(-3, 4, 12), range, bounds);
  std::erase(positive, 0.0);
  if (positive.empty()) return fixed_axis(0);
  Axis axis = with_nodes_between(logarithmic(std::move(positive), 0, 6, 0.2), alpha_stride);
  if (bounds.low > 0) return axis;
  // 0, and the nodes between it and the least slope.
  const double least = axis.position.front();
  for (int k = 1; k <= alpha_stride; ++k) {
    const double at = least - static_cast<double>(k) / alpha_stride;
    axis.value.insert(axis.value.begin(), k == alpha_stride ? 0 : three_digits(std::pow(10.0, at)));
    axis.position.insert(axis.position.begin(), at);
  }
  axis.start = axis.nearest(0);
  return axis;
}

Axis feature_axis(const std::vector<double>& range) {
  const Bounds bounds = bounds_of(range, 1e-2, 1e3);
  std::vector<double> positive = within(decades(-4, 8, 6), range, bounds);
  std::erase(positive, 0.0);
  if (positive.empty()) return fixed_axis(0);
  Axis axis = logarithmic(std::move(positive), 0, 6, 0.34);
  if (bounds.low > 0) return axis;
  axis.value.insert(axis.value.begin(), 0);
  axis.position.insert(axis.position.begin(), axis.position.front() - 1);
  axis.start = axis.nearest(0);
  return axis;
}

Axis dislike_axis(const std::vector<double>& range) {
  return logarithmic(within(decades(-4, 8, 6), range, bounds_of(range, 1e-2, 1e3)), 0, 6, 0.34);
}

Axis even_axis(const std::vector<double>& range, double low, double high, double spacing, double start,
               int step) {
  const Bounds bounds = bounds_of(range, low, high);
  std::vector<double> values;
  const auto value = [&](std::int64_t k) { return static_cast<double>(k) * spacing; };
  for (auto k = static_cast<std::int64_t>(std::ceil(bounds.low / spacing - 1e-9));
       value(k) <= bounds.high + 1e-9; ++k)
    values.push_back(three_digits(value(k)));
  values = within(std::move(values), range, bounds);
  Axis axis{.value = values, .position = values, .step = step, .fine = 1.5 * step * spacing};
  axis.start = axis.nearest(start);
  return axis;
}

}  // namespace poise
