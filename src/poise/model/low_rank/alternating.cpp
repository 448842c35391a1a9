#include "poise/model/low_rank/alternating.hpp"

#include <algorithm>

namespace poise {

void alternate(FactorPair& pair, const LowRankOptions& options, Observer* observer, const Stopwatch& watch,
               LowRankFit& fit) {
  Progress progress(observer, "training", 0, "rounds");  // it may end at any
  for (int number = 1; number <= options.rounds; ++number) {
    const RoundDone done = pair.round(number);
    fit.rounds = number;
    fit.iterations = std::max(fit.iterations, done.iterations);
    fit.trace.push_back({number, done.objective, done.iterations, watch.total()});
    progress.advance(1);
    if (done.last) break;
  }
}

}  // namespace poise
