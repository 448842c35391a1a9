#include "poise/train/trainer.hpp"

#include <algorithm>
#include <vector>

#include <fmt/ranges.h>

#include "poise/model/full_rank/family.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/parameter_table.hpp"
#include "poise/train/product_rate.hpp"

namespace poise {

Trained Trainer::train(const ModelParameters& parameters, const Weights* W) {
  validate(parameters);
  const ModelFamily& family = family_of(parameters);
  const Weights own = W == nullptr && !family.parameters.empty()
                          ? make_weights(context_.X, parameters.weighting, context_.execution.threads)
                          : Weights();
  return family.fit(parameters, W == nullptr ? own : *W, context_);
}

std::pair<Trained, Trained> Trainer::train_both_diagonals(const ModelParameters& parameters) {
  validate(parameters);
  FullRankOptions options = full_rank_options(parameters, context_.memory_limit);
  options.unconstrained = options.zero_diagonal = true;
  const Weights W = make_weights(context_.X, parameters.weighting, context_.execution.threads);
  std::vector<Trained> both = train_full_rank(options, W, context_);
  return {std::move(both[0]), std::move(both[1])};
}

const TrainingCost& Trainer::cost(const ModelParameters& parameters) {
  const ModelParameters costly = cost_parameters(parameters);
  const auto [entry, unknown] = costs_.try_emplace(fmt::format("{}", option_texts(costly)));
  if (unknown)
    entry->second =
        training_cost(costly, context_.X, context_.memory_limit, nullptr, context_.execution.threads);
  return entry->second;
}

double Trainer::expected_seconds(const ModelParameters& parameters) {
  if (family_of(parameters).parameters.empty()) return 0;
  if (rate_ == 0) rate_ = product_rate(context_.backend);
  // A weighted low-rank fit takes some fifteen rounds; eigenpairs are found once.
  const TrainingCost& of_model = cost(parameters);
  return (of_model.round > 0 ? 15 * of_model.round : of_model.fit) / rate_;
}

double Trainer::expected_bytes(const ModelParameters& parameters) {
  const TrainingCost& of_model = cost(parameters);
  return std::max(of_model.bytes, of_model.most_bytes);
}

}  // namespace poise
