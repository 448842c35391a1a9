#include "poise/solver/probes.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "poise/base/counter_stream.hpp"
#include "poise/base/parallel.hpp"

namespace poise {

double probe_factor(std::int64_t probes, double delta) {
  return 1 / boost::math::quantile(boost::math::chi_squared(static_cast<double>(probes)), delta);
}

double student_quantile(double degrees, double doubt) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), doubt / 2));
}

double error_of_mean(const std::vector<double>& draws, double doubt) {
  const auto count = static_cast<double>(draws.size());
  if (draws.size() < 2) return std::numeric_limits<double>::infinity();
  const double mean = std::accumulate(draws.begin(), draws.end(), 0.0) / count;
  double squares = 0;
  for (const double draw : draws) squares += (draw - mean) * (draw - mean);
  return student_quantile(count - 1, doubt) * std::sqrt(squares / (count - 1) / count);
}

Matrix<double> draw_probes(ProbeStream stream, std::int64_t items, std::int64_t first, std::int64_t count,
                           int threads) {
  Matrix<double> z(items, count);
  for_each_row({items, 256}, threads, [&](std::int64_t i) {
    CounterStream random(0, static_cast<std::uint64_t>(stream), static_cast<std::uint64_t>(i));
    for (std::int64_t before = 0; before < first; ++before) static_cast<void>(random.normal());
    for (double& entry : z.row(i)) entry = random.normal();
  });
  return z;
}

}  // namespace poise
