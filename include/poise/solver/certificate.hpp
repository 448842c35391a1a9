#pragma once

#include <cstdint>
#include <optional>

namespace poise {

/// For full rank with neighbours: the share of what the dense optimum explains that a model explains.
struct ExplainedShare {
  double low = 0;  ///< ends of an interval for it, at this level
  double high = 1;
  double level = 1;          ///< 1 if every column was measured: then the interval is proven
  double proven = 0;         ///< it is at least this, with the certificate's probability
  std::int64_t columns = 0;  ///< columns that were measured for the interval
};

/// A proven bound on how far the objective of the saved model lies above its minimum.
///
/// Each problem is quadratic, objective(x) = const - 2 x'c + x'Hx, so for the residual rho = c - Hx, with lo
/// M <= H,
///
///     objective(x) - minimum = rho' H^-1 rho <= rho' M^-1 rho / lo,
///
/// and the bound is at most hi/lo times the true excess. `relative` divides it by the explained weight,
/// observed - objective, which is ||B*||_H^2 at the optimum.
struct Certificate {
  double absolute = 0;      ///< the excess, summed over columns
  double relative = 0;      ///< the excess over the explained weight of all columns
  double worst_column = 0;  ///< the largest ratio of a single column
  std::int64_t verified_columns =
      0;                   ///< columns that were measured one by one; probes cover the others together
  double probability = 1;  ///< the probability that these bounds hold; 1 if no random probe was needed
  /// With neighbours; the other figures then compare with the best model on the same supports.
  std::optional<ExplainedShare> share = {};
};

/// The largest probability that random probes make a certificate too small.
constexpr double certificate_doubt = 1e-9;

/// The computed excess r'M^-1 r, made usable: a negative value, which comes from rounding, becomes 0, and NaN
/// becomes infinity.
double usable_excess(double computed);

/// The bound on all columns' excess over the weight they explain; 0 / 0 is 0.
double relative_excess(double absolute, double explained);

/// The ratio of one column's excess to the weight it explains. A column that explains less than 1e-7 of its
/// own weight counts in `absolute` only: its ratio is 0.
double column_ratio(double excess, double observed, double objective);

}  // namespace poise
