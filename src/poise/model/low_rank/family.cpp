#include "poise/model/low_rank/family.hpp"

#include <algorithm>

#include "poise/model/spectrum/cache.hpp"

namespace poise {

std::vector<FamilyParameter> low_rank_parameters(const FamilyParameter& beside) {
  return {{.id = "rank", .reported = true},
          beside,
          {.id = "lambda", .reported = true},
          {.id = "alpha", .reported = true},
          {.id = "weighting", .reported = true},
          {.id = "epsilon"},
          {.id = "gamma"},
          {.id = "clip"},
          alpha_negative_parameter(),
          {.id = "tolerance"},
          {.id = "rounds"},
          {.id = "least-decrease",
           .kept =
               [](const ModelParameters& each) {
                 return each.least_decrease != ModelParameters{}.least_decrease;
               }},
          {.id = "start"},
          {.id = "seed", .kept = [](const ModelParameters& each) { return each.start == Start::random; }}};
}

Trained trained_of(LowRankFit& fit, std::shared_ptr<const Scorer> model) {
  return {.model = std::move(model),
          .objective = fit.objective,
          .observed_weight = fit.observed_weight,
          .certificate = fit.certificate,
          .iterations = fit.iterations,
          .rounds = fit.rounds,
          .converged = fit.converged,
          .seconds = std::move(fit.seconds),
          .live_directions = fit.live_directions,
          .trace = std::move(fit.trace)};
}

std::optional<RoundCheckpoint> round_checkpoint(const FitContext& context) {
  if (context.checkpoint.empty()) return {};
  return RoundCheckpoint(context.checkpoint, context.checkpoint_key, context.processes,
                         context.execution.observer);
}

bool has_rounds(const ModelParameters& parameters) {
  return !parameters.uniform() || parameters.lambda_exponent != 0 || parameters.start == Start::random;
}

std::uint64_t eigenpair_bytes(const ModelParameters& parameters, CsrView X) {
  return sizeof(float) * static_cast<std::uint64_t>(X.cols * spectrum_step(parameters.rank, X.cols));
}

TrainingCost low_rank_cost(const ModelParameters& parameters, CsrView X, std::uint64_t held, bool eigenpairs,
                           double per_entry, double dense) {
  const SpectrumCost spectrum =
      eigenpairs ? spectrum_cost(X, spectrum_step(parameters.rank, X.cols)) : SpectrumCost{};
  const auto d = static_cast<double>(std::min(parameters.rank, X.cols));
  const double entries = static_cast<double>(X.entries()) * d;
  const double factors = 10 * static_cast<double>(X.rows) * d * d;
  // Inner solves take some three iterations.
  return {.bytes = std::max(spectrum.bytes, static_cast<double>(held)),
          .eigenpairs = spectrum.operations,
          .fit = 40 * entries,
          .round = has_rounds(parameters) ? per_entry * entries + (factors + dense) : 0};
}

double low_rank_gpu_bytes(CsrView X, double held) {
  return std::max(6 * sizeof(float) * static_cast<double>(X.cols) * static_cast<double>(X.cols), held);
}

}  // namespace poise
