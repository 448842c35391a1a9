#include "poise/solver/trace_bound.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "poise/solver/probes.hpp"

namespace poise {

double bound_trace(const std::vector<double>& forms, const Matrix<double>& Kz, double remainder,
                   double doubt) {
  double squares = 0;
  for (std::int64_t i = 0; i < Kz.rows(); ++i) {
    for (const double entry : Kz.row(i)) squares += entry * entry;
  }
  return bound_trace(forms, squares, remainder, doubt);
}

double bound_trace(const std::vector<double>& forms, double squares, double remainder, double doubt) {
  const auto q = static_cast<double>(forms.size());
  const double mean = std::accumulate(forms.begin(), forms.end(), 0.0) / q;
  const double deviations = 2 * std::sqrt(std::log(2 / doubt) / q);
  const double factor = deviations * std::sqrt(probe_factor(std::ssize(forms), doubt / 2));
  // x^2 <= mean + factor (|Kz| + remainder x) for x = sqrt(tr K).
  const double known = mean + factor * std::sqrt(squares);
  const double linear = factor * remainder;
  const double root = (linear + std::sqrt(linear * linear + 4 * known)) / 2;
  return std::isfinite(root) ? root * root : std::numeric_limits<double>::infinity();
}

}  // namespace poise
