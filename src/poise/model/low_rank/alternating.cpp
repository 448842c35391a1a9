#include "poise/model/low_rank/alternating.hpp"

#include <algorithm>
#include <cmath>

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/model/low_rank/gauge.hpp"

namespace poise {

namespace {

constexpr double inner_share = 0.1;

void run_rounds(FactorPair& pair, const LowRankOptions& options, Observer* observer, const Stopwatch& watch,
                LowRankFit& fit) {
  Progress progress(observer, "training", 0, "rounds");  // it may end at any
  double excess = pair.coarsest();
  const bool coarse = excess > 0;
  for (int number = 1; number <= options.rounds && pair.live() > 0; ++number) {
    const bool last = !coarse || fit.converged || number == options.rounds;
    const RoundDone done = pair.round(excess, last);
    if (number == 1) fit.trace.front().objective = done.before;
    fit.rounds = number;
    fit.iterations = std::max(fit.iterations, done.iterations);
    fit.trace.push_back({number, done.objective, done.iterations, watch.total()});
    progress.advance(1);
    if (done.end == RoundEnd::lower) {
      const double least = options.least_decrease * std::abs(done.objective);
      const double finest = inner_share * least;
      const bool small = done.gained <= least;
      fit.converged = small && (fit.converged || done.resolution <= least);
      excess = small ? finest : std::clamp(inner_share * done.gained, finest, std::max(finest, excess));
    } else if (done.end == RoundEnd::stands) {
      fit.converged = true;
    }
    if (last && fit.converged) break;
  }
}

}  // namespace

void alternate(FactorPair& pair, const LowRankOptions& options, double observed_weight, Observer* observer,
               Stopwatch& watch, LowRankFit& fit) {
  fit.observed_weight = observed_weight;
  fit.trace.push_back({.round = 0, .seconds = watch.total()});
  if (!pair.solved()) run_rounds(pair, options, observer, watch, fit);
  const CheckedPair checked = pair.check();
  if (!std::isfinite(checked.objective))
    fail(ErrorKind::numerical, "training ended with factors that are not finite; raise {}", "lambda"_p);
  fit.objective = checked.objective;
  if (fit.rounds == 0) fit.trace.front().objective = fit.objective;
  const double explained = observed_weight - fit.objective;
  fit.certificate.absolute = checked.excess;
  fit.certificate.relative = explained > 0 ? checked.excess / explained : 0;
  fit.live_directions = pair.live();
  fit.converged = fit.converged || pair.solved() || fit.live_directions == 0;
  Factors factors = pair.take();
  fit.U = with_columns(std::move(factors.U), options.rank);
  fit.V = with_columns(std::move(factors.V), options.rank);
}

void validate(const LowRankOptions& options) {
  const auto require = [](bool right, ParameterName name, auto value, std::string_view range) {
    if (!right) fail(ErrorKind::usage, "{} {} is out of range: {}", name, value, range);
  };
  require(options.rank >= 1, "rank"_p, options.rank, "at least 1");
  require(options.lambda >= 0 && std::isfinite(options.lambda), "lambda"_p, options.lambda,
          "it must be finite and not negative");
  require(options.least_decrease >= 0, "least-decrease"_p, options.least_decrease, "at least 0");
  require(options.rounds >= 0, "rounds"_p, options.rounds, "at least 0");
  require(options.tolerance > 0 && options.tolerance < 1, "tolerance"_p, options.tolerance,
          "it must be between 0 and 1");
}

void check_memory(const LowRankOptions& options, std::uint64_t needed) {
  if (needed <= options.memory_limit) return;
  const auto [needed_text, limit] =
      compared_bytes(static_cast<double>(needed), static_cast<double>(options.memory_limit));
  fail(ErrorKind::resources, "rank {} needs {} for its factors; raise {}, now {}, or lower {}", options.rank,
       needed_text, "memory-limit"_p, limit, "rank"_p);
}

}  // namespace poise
