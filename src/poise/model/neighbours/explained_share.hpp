#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/model/neighbours/column_bounds.hpp"
#include "poise/model/neighbours/column_ridge.hpp"
#include "poise/model/neighbours/problem.hpp"
#include "poise/solver/certificate.hpp"

namespace poise {

/// An interval for the sum over all columns of what the dense optimum explains more.
struct ExcessEstimate {
  double low = 0;
  double high = 0;
  std::int64_t columns = 0;            ///< that were looked at
  bool all = false;                    ///< whether these are all: then it is proven, else it has this level
  std::vector<double> predicted = {};  ///< of each column, about: for a proof to begin with
};

/// The level of the interval where columns were sampled.
constexpr double share_level = 0.99;

/// How many columns are looked at: all of small problems, else so many that it takes a few seconds, or little
/// beside the fit.
std::int64_t sampled_columns(std::int64_t items, std::int64_t entries);

/// The columns, one by one, or a sample of `count` of them drawn by `seed`. A column's excess is at most its
/// objective x_j = observed - explained, so the ratio of the two lies in [0, 1]. Columns lie side by side on
/// a line, each as long as its x_j, by their share of explained weight; the line is cut into pieces of equal
/// length, and from each as many points are drawn. The ratio at these points, each from its two bounds, gives
/// the integral over the line, which is the sum, with Student's distribution for its error.
ExcessEstimate estimate_excess(const NeighbourProblem& problem, const NeighbourColumns& columns,
                               std::span<const NeighbourFigures> figures, std::int64_t count,
                               std::uint64_t seed, const Execution& execution);

/// What E is of E + excess.
double share_of(double explained, double excess);

}  // namespace poise
