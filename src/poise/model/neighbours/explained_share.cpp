#include "poise/model/neighbours/explained_share.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "poise/base/counter_stream.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/solver/probes.hpp"

namespace poise {
namespace {

constexpr std::int64_t points_per_piece = 4;
constexpr std::int64_t least_columns = 128;
constexpr std::int64_t most_columns = 512;
/// A step of conjugate gradients for one column goes twice through X. Of small problems all columns are
/// looked at, some seconds of one core at most; of large ones a sample that takes a part of the time of the
/// fit.
constexpr double entries_of_all = 2e8;
constexpr double entries_of_sample = 1e10;

/// "shar", another stream than any other's.
constexpr std::uint64_t share_stream = 0x73686172;

/// x_j: what the column's excess is at most. What rounding makes negative is nothing.
double length_of(const NeighbourFigures& column) { return std::max(0.0, column.observed - column.explained); }

struct DrawnPoints {
  std::vector<std::int32_t> columns;  ///< of each point, piece after piece
  double piece = 0;                   ///< the length of a piece of the line
};

/// The columns in the order of the line: the share that they explain says most of what they miss.
std::vector<std::int32_t> order_of(std::span<const NeighbourFigures> figures) {
  std::vector<std::int32_t> order = numbers_from(0, std::ssize(figures));
  const auto share = [&](std::int32_t j) {
    return figures[j].observed > 0 ? figures[j].explained / figures[j].observed : 0.0;
  };
  std::ranges::stable_sort(order, {}, share);
  return order;
}

DrawnPoints draw_points(std::span<const NeighbourFigures> figures, std::int64_t pieces, std::uint64_t seed) {
  const std::vector<std::int32_t> order = order_of(figures);
  std::vector<double> ends(order.size());
  double end = 0;
  for (std::size_t k = 0; k < order.size(); ++k) ends[k] = end += length_of(figures[order[k]]);
  DrawnPoints drawn{.columns = {}, .piece = end / static_cast<double>(pieces)};
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    CounterStream random(seed, share_stream, static_cast<std::uint64_t>(piece));
    for (std::int64_t point = 0; point < points_per_piece; ++point) {
      const double at = (static_cast<double>(piece) + random.uniform()) * drawn.piece;
      const auto found = std::upper_bound(ends.begin(), ends.end(), at);
      const auto k = std::min(found - ends.begin(), std::ssize(ends) - 1);
      drawn.columns.push_back(order[k]);
    }
  }
  return drawn;
}

/// The integral of ratios over the line, and the error of that by Student's distribution with as many degrees
/// of freedom as the pieces' variances are worth (Satterthwaite).
struct Integral {
  double value = 0;
  double error = 0;
};
Integral integrate(std::span<const double> ratios, double piece) {
  constexpr auto points = static_cast<double>(points_per_piece);
  Integral result;
  double variance = 0;
  double squares = 0;
  for (std::size_t first = 0; first < ratios.size(); first += points_per_piece) {
    const auto part = ratios.subspan(first, points_per_piece);
    const double mean = sum_of(part) / points;
    double spread = 0;
    for (const double ratio : part) spread += (ratio - mean) * (ratio - mean);
    const double own = piece * piece * spread / (points - 1) / points;
    result.value += piece * mean;
    variance += own;
    squares += own * own / (points - 1);
  }
  if (variance > 0)
    result.error = student_quantile(variance * variance / squares, 1 - share_level) * std::sqrt(variance);
  return result;
}

ExcessEstimate look_at_all(const NeighbourProblem& problem, const NeighbourColumns& columns,
                           const Execution& execution) {
  ExcessEstimate estimate{.columns = columns.count, .all = true, .predicted = {}};
  for (const ExcessBounds& column :
       bound_excess(problem, columns, numbers_from(0, columns.count), execution)) {
    estimate.low += column.low;
    estimate.high += column.high;
    estimate.predicted.push_back((column.low + column.high) / 2);
  }
  return estimate;
}

}  // namespace

std::int64_t sampled_columns(std::int64_t items, std::int64_t entries) {
  const auto each = static_cast<double>(std::max<std::int64_t>(1, entries));
  if (items <= least_columns || static_cast<double>(items) * each <= entries_of_all) return items;
  const auto count = static_cast<std::int64_t>(std::min(entries_of_sample / each, 1e6));
  return std::min(items, std::clamp(count, least_columns, most_columns));
}

ExcessEstimate estimate_excess(const NeighbourProblem& problem, const NeighbourColumns& columns,
                               std::span<const NeighbourFigures> figures, std::int64_t count,
                               std::uint64_t seed, const Execution& execution) {
  if (count >= columns.count) return look_at_all(problem, columns, execution);
  const std::int64_t pieces = std::max<std::int64_t>(2, count / points_per_piece);
  const DrawnPoints drawn = draw_points(figures, pieces, seed);
  std::vector<std::int32_t> which = drawn.columns;
  std::ranges::sort(which);
  which.erase(std::unique(which.begin(), which.end()), which.end());
  const std::vector<ExcessBounds> bounds = bound_excess(problem, columns, which, execution);
  std::vector<double> low;
  std::vector<double> high;
  for (const std::int32_t j : drawn.columns) {
    const auto place = std::ranges::lower_bound(which, j) - which.begin();
    const double length = length_of(figures[j]);
    low.push_back(length > 0 ? bounds[place].low / length : 0);
    high.push_back(length > 0 ? std::min(1.0, bounds[place].high / length) : 0);
  }
  const Integral below = integrate(low, drawn.piece);
  const Integral above = integrate(high, drawn.piece);
  ExcessEstimate estimate{.low = std::max(0.0, below.value - below.error),
                          .high = above.value + above.error,
                          .columns = std::ssize(which),
                          .predicted = std::vector<double>(columns.count)};
  const double line = drawn.piece * static_cast<double>(pieces);
  const double ratio = line > 0 ? (below.value + above.value) / (2 * line) : 0;
  for (std::int64_t j = 0; j < columns.count; ++j) estimate.predicted[j] = ratio * length_of(figures[j]);
  return estimate;
}

double share_of(double explained, double excess) {
  const double whole = explained + excess;
  return whole > 0 ? std::max(0.0, explained) / whole : 1.0;
}

}  // namespace poise
