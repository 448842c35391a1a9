#include "poise/solver/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "poise/linalg/precision.hpp"

namespace poise {

double usable_excess(double computed) {
  return std::isnan(computed) ? std::numeric_limits<double>::infinity() : std::max(0.0, computed);
}

double relative_excess(double absolute, double explained) {
  if (absolute == 0) return 0;
  return explained > 0 ? absolute / explained : std::numeric_limits<double>::infinity();
}

double column_ratio(double excess, double observed, double objective) {
  const double explained = observed - objective;
  // The optimum explains at most explained + excess, so this share is negligible whatever was saved.
  if (explained + excess <= negligible_share * observed) return 0;
  return explained > 0 ? excess / explained : std::numeric_limits<double>::infinity();
}

}  // namespace poise
