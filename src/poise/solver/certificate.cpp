#include "poise/solver/certificate.hpp"

namespace poise {

double column_ratio(double excess, double observed, double objective) {
  constexpr double negligible = 1e-7;
  const double explained = observed - objective;
  return explained > negligible * observed ? excess / explained : 0;
}

}  // namespace poise
