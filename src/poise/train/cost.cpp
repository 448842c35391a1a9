#include "poise/train/cost.hpp"

#include <algorithm>
#include <map>

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/model/left_factor.hpp"
#include "poise/model/spectrum_cache.hpp"

namespace poise {
namespace {

TrainingCost full_rank_cost(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit,
                            const Weights& W, int threads) {
  const FullRankOptions options = full_rank_options(parameters, memory_limit);
  const FullRankMemory memory = full_rank_memory(X, !W.uniform(), 1);
  const bool with_T = !W.c.empty() && W.b.empty() && memory.with_T <= memory_limit;
  return {.bytes = static_cast<double>(with_T ? memory.with_T : memory.least),
          .fit = full_rank_operations(X, W, options, threads)};
}

TrainingCost low_rank_cost(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit,
                           const Weights& W) {
  const bool wmf = parameters.family == Family::wmf;
  const bool from_spectrum = parameters.start == Start::closed_form || !wmf;
  const std::int64_t rank = std::min(parameters.rank, X.cols);
  const std::int64_t pairs = spectrum_step(parameters.rank, X.cols);
  const SpectrumCost spectrum = from_spectrum ? spectrum_cost(X, pairs) : SpectrumCost{};
  const bool rounds =
      !parameters.unweighted() || parameters.lambda_exponent != 0 || parameters.start == Start::random;
  std::uint64_t held = wmf ? wmf_memory(X.rows, X.cols, X.entries(), rank) : asymmetric_memory(X, rank);
  if (from_spectrum) held += 4 * static_cast<std::uint64_t>(X.cols * pairs);
  if (rounds && !wmf)
    held += left_factor_memory(X, W, parameters.regularizer, memory_limit - std::min(held, memory_limit));
  // Gathered operations count as ten; inner solves take some three iterations.
  const auto d = static_cast<double>(rank);
  const auto n = static_cast<double>(X.cols);
  const double entries = static_cast<double>(X.entries()) * d;
  const double dense = 10 * static_cast<double>(X.rows) * d * d + (wmf ? 0 : 6 * n * n * d);
  return {.bytes = std::max(spectrum.bytes, static_cast<double>(held)),
          .eigenpairs = spectrum.operations,
          .fit = 40 * entries,
          .round = rounds ? (wmf ? 240 : 300) * entries + dense : 0};
}

/// Bytes of a GPU's memory, about.
double gpu_bytes(const ModelParameters& parameters, CsrView X) {
  if (parameters.family == Family::popularity) return 0;
  if (!parameters.low_rank())
    return static_cast<double>(full_rank_gpu_memory(X.cols, !parameters.unweighted(), 1));
  const std::int64_t rank = std::min(parameters.rank, X.cols);
  const bool wmf = parameters.family == Family::wmf;
  const auto square = 4 * static_cast<double>(X.cols) * static_cast<double>(X.cols);
  const auto held =
      static_cast<double>(wmf ? wmf_memory(X.rows, X.cols, X.entries(), rank) : asymmetric_memory(X, rank));
  // Eigenpairs of X'X in float64 with cuSOLVER's workspace, or the left factor, of items x items.
  return std::max(6 * square, held + (wmf ? 0 : square));
}

/// Error{resources} when a low-rank model needs more.
void check_bytes(const ModelParameters& parameters, double bytes, std::uint64_t memory_limit) {
  if (bytes <= static_cast<double>(memory_limit)) return;
  const auto [needed, limit] = compared_bytes(bytes, static_cast<double>(memory_limit));
  fail(ErrorKind::resources,
       "rank {} needs about {}, more than the --memory-limit of {}; a lower --rank would fit, or raise "
       "--memory-limit",
       parameters.rank, needed, limit);
}

}  // namespace

ModelParameters cost_parameters(ModelParameters parameters) {
  parameters.lambda = 1;
  parameters.dropout = 0;
  parameters.zero_diagonal = false;
  if (parameters.family == Family::full_rank) parameters.lambda_exponent = 0;
  return parameters;
}

TrainingCost training_cost(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit,
                           const Weights* W, int threads) {
  if (parameters.family == Family::popularity) return {};
  const Weights own = W == nullptr ? make_weights(X, parameters.weighting, threads) : Weights();
  const Weights& weights = W == nullptr ? own : *W;
  TrainingCost cost = parameters.low_rank() ? low_rank_cost(parameters, X, memory_limit, weights)
                                            : full_rank_cost(parameters, X, memory_limit, weights, threads);
  cost.gpu_bytes = gpu_bytes(parameters, X);
  return cost;
}

Work training_work(std::span<const ModelParameters> points, CsrView X, std::uint64_t memory_limit,
                   double enough) {
  std::map<std::map<std::string, std::string>, double> known;
  Work work;
  for (const ModelParameters& point : points) {
    work.gpu_bytes = std::max(work.gpu_bytes, gpu_bytes(point, X));
    if (work.operations >= enough) continue;
    const ModelParameters costly = cost_parameters(point);
    const auto [entry, unknown] = known.try_emplace(option_texts(costly));
    if (unknown) entry->second = training_cost(costly, X, memory_limit).operations();
    work.operations += entry->second;
  }
  return work;
}

void check_memory(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit,
                  bool both_diagonals) {
  if (parameters.family == Family::full_rank) {
    FullRankOptions options = full_rank_options(parameters, memory_limit);
    if (both_diagonals) options.unconstrained = options.zero_diagonal = true;
    check_full_rank_memory(X, make_weights(X, parameters.weighting), options);
    return;
  }
  check_bytes(parameters, training_cost(parameters, X, memory_limit).bytes, memory_limit);
}

void check_memory(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit, const Weights& W,
                  const TrainingCost& cost) {
  if (parameters.family == Family::full_rank) {
    check_full_rank_memory(X, W, full_rank_options(parameters, memory_limit));
  } else {
    check_bytes(parameters, cost.bytes, memory_limit);
  }
}

}  // namespace poise
