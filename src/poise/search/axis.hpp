#pragma once

#include <vector>

namespace poise {

/// One parameter of a search by profiles: its possible values, ascending. Values lie on a lattice that is the
/// same for every search, so that searches share points, and points of one lambda share an inverse; the ends
/// of a given range are added.
struct Axis {
  std::vector<double> value;
  std::vector<double> position;  ///< the position of each value: the logarithm to base 10 of lambda and alpha
  int start = 0;                 ///< the node at which a search begins without other information
  int step = 1;                  ///< distance in nodes between its first points
  double fine = 0;               ///< the widest gap that may remain beside the best point
  /// Every stride-th node is an ordinary one. Those in between are tried beside a top that is sharp.
  int stride = 1;

  [[nodiscard]] int nodes() const { return static_cast<int>(value.size()); }
  /// The ordinary node whose position is nearest.
  [[nodiscard]] int nearest(double at) const;
  /// The same of all nodes.
  [[nodiscard]] int nearest_of_all(double at) const;
};

/// An axis of one value.
Axis fixed_axis(double value);

/// lambda, twelve ordinary nodes a decade with three nodes between any two, three digits each; `range` is
/// empty or holds values whose least and largest bound it.
Axis lambda_axis(const std::vector<double>& range);

/// alpha, twelve ordinary nodes a decade from 0.001 to 1000 and a few close to 1, with a node between any
/// two.
Axis alpha_axis(const std::vector<double>& range);

/// The slope alpha of the linear and log schemes: 0, which has no logarithm and is placed a decade below the
/// least slope, then twelve ordinary nodes a decade from 0.001 to 10 000, with a node between any two.
Axis slope_axis(const std::vector<double>& range);

/// The weight of features, six nodes a decade from 0.01 to 1000, or over the range; begins at 1. 0 has no
/// logarithm and is placed a decade below the least other.
Axis feature_axis(const std::vector<double>& range);

/// The weight of dislikes, six nodes a decade from 0.01 to 1000, or over the range; begins at 1, where they
/// are not known.
Axis dislike_axis(const std::vector<double>& range);

/// Nodes `spacing` apart from `low` to `high`, or over the range; begins at the node nearest to `start`.
Axis even_axis(const std::vector<double>& range, double low, double high, double spacing, double start,
               int step);

}  // namespace poise
