#include "poise/solver/probes.hpp"

#include <boost/math/distributions/chi_squared.hpp>

#include "poise/base/counter_stream.hpp"
#include "poise/base/parallel.hpp"

namespace poise {

double probe_factor(std::int64_t probes, double delta) {
  return 1 / boost::math::quantile(boost::math::chi_squared(static_cast<double>(probes)), delta);
}

Matrix<double> draw_probes(ProbeStream stream, std::int64_t items, std::int64_t probes, int threads) {
  Matrix<double> z(items, probes);
  const Tiling tiling{items, 256};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    for (std::int64_t i = tiling.first(tile); i < tiling.last(tile); ++i) {
      CounterStream random(0, static_cast<std::uint64_t>(stream), static_cast<std::uint64_t>(i));
      for (double& entry : z.row(i)) entry = random.normal();
    }
  });
  return z;
}

}  // namespace poise
