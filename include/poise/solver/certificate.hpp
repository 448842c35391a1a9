#pragma once

#include <cstdint>
#include <optional>

namespace poise {

/// Of full rank with neighbours: what a model explains of what the dense optimum would.
struct ExplainedShare {
  double low = 0;  ///< of an interval for it, with this level
  double high = 1;
  double level = 1;          ///< 1 where every column was looked at: then the interval is proven
  double proven = 0;         ///< it is at least this, as certainly as the certificate says
  std::int64_t columns = 0;  ///< that were looked at for the interval
};

/// A proven bound on how far the objective of what is saved lies above its minimum.
///
/// Each problem is quadratic, objective(x) = const - 2 x'c + x'Hx, so for the residual rho = c - Hx, with lo
/// M <= H,
///
///     objective(x) - minimum = rho' H^-1 rho <= rho' M^-1 rho / lo,
///
/// and the bound is at most hi/lo times the truth. It is relative to the explained weight, observed -
/// objective, which is ||B*||_H^2 at the optimum.
struct Certificate {
  double absolute = 0;      ///< the excess, summed over columns
  double relative = 0;      ///< that over the explained weight of all columns
  double worst_column = 0;  ///< the largest ratio of a single column
  std::int64_t verified_columns =
      0;                   ///< how many were looked at one by one; probes cover the others together
  double probability = 1;  ///< that these are bounds; 1 where no random probe was needed
  std::optional<ExplainedShare> share =
      {};  ///< with neighbours: the rest is about the best on their supports
};

/// How likely random probes may be to make a certificate too small.
constexpr double certificate_doubt = 1e-9;

/// An excess as it was computed, r'M^-1 r: what rounding has made negative is 0, and what is not a number
/// proves nothing.
double usable_excess(double computed);

/// A bound on all columns' excess over what they explain; 0 / 0 is 0.
double relative_excess(double absolute, double explained);

/// The ratio of one column's excess to what it explains. A column that explains less than 1e-7 of its own
/// weight counts in `absolute` only: its ratio is 0.
double column_ratio(double excess, double observed, double objective);

}  // namespace poise
