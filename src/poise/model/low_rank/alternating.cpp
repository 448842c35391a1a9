#include "poise/model/low_rank/alternating.hpp"

#include <algorithm>
#include <cmath>

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/model/low_rank/gauge.hpp"

namespace poise {

namespace {

constexpr double inner_share = 0.1;

/// Of the rounds so far, beside that of the pair.
RoundState state_of(const FactorPair& pair, const LowRankFit& fit, double excess) {
  RoundState state;
  pair.save(state);
  state.put("excess", excess);
  state.put("converged", fit.converged ? 1 : 0);
  state.put("most iterations", static_cast<double>(fit.iterations));
  Matrix<double> trace(std::ssize(fit.trace), 3);
  for (std::int64_t k = 0; k < trace.rows(); ++k) {
    trace(k, 0) = fit.trace[k].objective;
    trace(k, 1) = static_cast<double>(fit.trace[k].iterations);
    trace(k, 2) = fit.trace[k].seconds;
  }
  state.numbers["trace"] = std::move(trace);
  return state;
}

/// Returns what inner solves of the next round may leave.
double resume(const RoundState& state, FactorPair& pair, LowRankFit& fit) {
  pair.restore(state);
  fit.converged = state.number("converged") != 0;
  fit.iterations = static_cast<std::int64_t>(state.number("most iterations"));
  const Matrix<double>& trace = state.numbers.at("trace");
  fit.trace.clear();
  for (std::int64_t k = 0; k < trace.rows(); ++k)
    fit.trace.push_back(
        {static_cast<int>(k), trace(k, 0), static_cast<std::int64_t>(trace(k, 1)), trace(k, 2)});
  fit.rounds = trace.rows() - 1;
  return state.number("excess");
}

void run_rounds(FactorPair& pair, const LowRankOptions& options, Observer* observer, const Stopwatch& watch,
                LowRankFit& fit, RoundCheckpoint* checkpoint) {
  Progress progress(observer, "training", 0, "rounds");  // it may end at any
  double excess = pair.coarsest();
  const bool coarse = excess > 0;
  if (checkpoint != nullptr) {
    if (const auto state = checkpoint->load()) excess = resume(*state, pair, fit);
  }
  const double seconds_before = fit.trace.back().seconds - fit.trace.front().seconds;
  for (int number = static_cast<int>(fit.rounds) + 1; number <= options.rounds && pair.live() > 0; ++number) {
    if (checkpoint != nullptr) checkpoint->begin_round();
    const bool last = !coarse || fit.converged || number == options.rounds;
    const RoundDone done = pair.round(excess, last);
    if (number == 1) fit.trace.front().objective = done.before;
    fit.rounds = number;
    fit.iterations = std::max(fit.iterations, done.iterations);
    fit.trace.push_back({number, done.objective, done.iterations, seconds_before + watch.total()});
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
    if (checkpoint != nullptr) checkpoint->end_round(number, [&] { return state_of(pair, fit, excess); });
  }
}

}  // namespace

void alternate(FactorPair& pair, const LowRankOptions& options, double observed_weight, Observer* observer,
               Stopwatch& watch, LowRankFit& fit, RoundCheckpoint* checkpoint) {
  fit.observed_weight = observed_weight;
  fit.trace.push_back({.round = 0, .seconds = watch.total()});
  if (!pair.solved()) run_rounds(pair, options, observer, watch, fit, checkpoint);
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
