#include "poise/train/cost.hpp"

#include <algorithm>
#include <map>

#include "poise/train/parameter_table.hpp"

namespace poise {
namespace {

/// Whether there is anything to train.
bool trained(const ModelParameters& parameters) { return !family_of(parameters).parameters.empty(); }

}  // namespace

TrainingCost training_cost(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit,
                           const Weights* W, int threads) {
  if (!trained(parameters)) return {};
  const Weights own = W == nullptr ? make_weights(X, parameters.weighting, threads) : Weights();
  TrainingCost cost =
      family_of(parameters).cost(parameters, X, memory_limit, W == nullptr ? own : *W, threads);
  cost.gpu_bytes = family_of(parameters).gpu_bytes(parameters, X);
  return cost;
}

Work training_work(std::span<const ModelParameters> points, CsrView X, std::uint64_t memory_limit,
                   double enough) {
  std::map<std::map<std::string, std::string>, double> known;
  Work work;
  for (const ModelParameters& point : points) {
    work.gpu_bytes = std::max(work.gpu_bytes, family_of(point).gpu_bytes(point, X));
    if (work.operations >= enough) continue;
    const ModelParameters costly = cost_parameters(point);
    const auto [entry, unknown] = known.try_emplace(option_texts(costly));
    if (unknown) entry->second = training_cost(costly, X, memory_limit).gpu_operations();
    work.operations += entry->second;
  }
  return work;
}

void check_memory(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit,
                  bool both_diagonals) {
  if (!trained(parameters)) return;
  const Weights W = make_weights(X, parameters.weighting);
  family_of(parameters).check_memory(parameters, X, memory_limit, W, nullptr, both_diagonals);
}

void check_memory(const ModelParameters& parameters, CsrView X, std::uint64_t memory_limit, const Weights& W,
                  const TrainingCost& cost) {
  family_of(parameters).check_memory(parameters, X, memory_limit, W, &cost, false);
}

}  // namespace poise
