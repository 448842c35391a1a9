#include "poise/train/trainer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "poise/base/stopwatch.hpp"
#include "poise/model/spectrum_cache.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/product_rate.hpp"

namespace poise {
namespace {

/// What both low-rank fits report.
Trained from(LowRankFit& fit, AnyModel model) {
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

}  // namespace

const Scorer& scorer_of(const AnyModel& model) {
  return std::visit([](const auto& each) -> const Scorer& { return each; }, model);
}

Trained Trainer::train(const ModelParameters& parameters, const Weights* W) {
  validate(parameters);
  if (parameters.family == Family::popularity) return {.model = Popularity::train(X_)};
  if (parameters.low_rank()) basis_ = {};
  if (parameters.family == Family::wmf) left_ = {};
  const Weights own = W == nullptr ? make_weights(X_, parameters.weighting, execution_.threads) : Weights();
  const Weights& weights = W == nullptr ? own : *W;
  if (parameters.family == Family::awmf) return asymmetric(parameters, weights);
  if (parameters.family == Family::wmf) return wmf(parameters, weights);
  return std::move(full_rank(full_rank_options(parameters, memory_limit_), weights).front());
}

std::pair<Trained, Trained> Trainer::train_both_diagonals(const ModelParameters& parameters) {
  validate(parameters);
  FullRankOptions options = full_rank_options(parameters, memory_limit_);
  options.unconstrained = options.zero_diagonal = true;
  std::vector<Trained> both = full_rank(options, make_weights(X_, parameters.weighting, execution_.threads));
  return {std::move(both[0]), std::move(both[1])};
}

std::vector<Trained> Trainer::full_rank(const FullRankOptions& options, const Weights& W) {
  const CsrView X = X_;
  const int solutions = static_cast<int>(options.unconstrained) + static_cast<int>(options.zero_diagonal);
  const bool keep =
      keep_ == Keep::shared_parts && full_rank_memory(X, true, solutions).least <= memory_limit_;
  if (!keep) basis_ = {};
  FullRankFit fit = fit_full_rank(X, W, options, backend_, execution_, keep ? &basis_ : nullptr);
  std::vector<Trained> result;
  for (FullRankSolution& solution : fit.solutions) {
    result.push_back({.model = FullRank(std::move(solution.B)),
                      .objective = solution.objective,
                      .observed_weight = solution.observed_weight,
                      .certificate = solution.certificate,
                      .iterations = fit.iterations,
                      .converged = solution.converged,
                      .seconds = fit.seconds,
                      .objective_error = solution.objective_error,
                      .condition = fit.condition,
                      .float64 = fit.float64,
                      .tensor_cores = fit.tensor_cores,
                      .direct_columns = fit.direct_columns,
                      .iterated_columns = fit.iterated_columns,
                      .worst_column = fit.worst_column});
  }
  return result;
}

const Spectrum& Trainer::spectrum(std::int64_t rank) {
  const CsrView X = X_;
  const std::int64_t step = spectrum_step(rank, X.cols);
  if (spectrum_rank_ != step) {
    spectrum_ = {};
    spectrum_ = folder_.empty() ? top_spectrum(X, {}, step, backend_, execution_)
                                : cached_spectrum(folder_, data_->checksum, X, rank, backend_, execution_);
    spectrum_rank_ = step;
  }
  return spectrum_;
}

Trained Trainer::asymmetric(const ModelParameters& parameters, const Weights& W) {
  const CsrView X = X_;
  std::map<std::string, double> seconds;
  Stopwatch watch(seconds);
  const Spectrum& pairs = spectrum(parameters.rank);
  watch.book("eigenpairs");
  LowRankFit fit = fit_asymmetric(X, W, asymmetric_options(parameters, memory_limit_), pairs, backend_,
                                  execution_, &left_);
  fit.seconds.merge(seconds);
  Asymmetric model(std::move(fit.U), std::move(fit.V));
  return from(fit, std::move(model));
}

Trained Trainer::wmf(const ModelParameters& parameters, const Weights& W) {
  const CsrView X = X_;
  const WmfOptions options = wmf_options(parameters, memory_limit_);
  std::map<std::string, double> seconds;
  Stopwatch watch(seconds);
  const Spectrum none;
  const Spectrum& pairs = parameters.start == Start::closed_form ? spectrum(parameters.rank) : none;
  watch.book("eigenpairs");
  LowRankFit fit = fit_wmf(X, W, options, pairs, backend_, execution_);
  fit.seconds.merge(seconds);
  Wmf model(std::move(fit.V), {.weighting = parameters.weighting,
                               .lambda = options.regularization(),
                               .users = X.rows,
                               .item_users = column_counts(X, execution_.threads)});
  return from(fit, std::move(model));
}

void Trainer::forget() {
  basis_ = {};
  left_ = {};
  spectrum_ = {};
  spectrum_rank_ = 0;
}

const TrainingCost& Trainer::cost(const ModelParameters& parameters) {
  const ModelParameters costly = cost_parameters(parameters);
  const auto [entry, unknown] = costs_.try_emplace(fmt::format("{}", option_texts(costly)));
  if (unknown) entry->second = training_cost(costly, X_, memory_limit_, nullptr, execution_.threads);
  return entry->second;
}

double Trainer::expected_seconds(const ModelParameters& parameters) {
  if (parameters.family == Family::popularity) return 0;
  if (rate_ == 0) rate_ = product_rate(backend_);
  // A weighted low-rank fit takes some fifteen rounds; eigenpairs are found once.
  const TrainingCost& of_model = cost(parameters);
  return (of_model.round > 0 ? 15 * of_model.round : of_model.fit) / rate_;
}

double Trainer::expected_bytes(const ModelParameters& parameters) {
  const double bytes = cost(parameters).bytes;
  if (parameters.family != Family::full_rank) return bytes;
  const double matrix = sizeof(float) * static_cast<double>(X_.cols) * static_cast<double>(X_.cols);
  return matrix + std::max(bytes, static_cast<double>(full_rank_memory(X_, true, 2).least));
}

}  // namespace poise
