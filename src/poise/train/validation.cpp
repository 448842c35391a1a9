#include "poise/train/validation.hpp"

#include "poise/evaluate/evaluate.hpp"

namespace poise {

std::optional<double> validation_ndcg(const Scorer& model, const Dataset& dataset,
                                      const Execution& execution) {
  if (!dataset.validation || dataset.validation->targets.entries() == 0) return {};
  const HeldOut& part = *dataset.validation;
  return evaluate(
             model, dataset.histories(part), part.targets.view(), column_counts(dataset.train.view()),
             {.metrics = {{MetricKind::ndcg, 100}}, .cold_items = dataset.split == SplitKind::cold_items},
             execution)
      .metrics.front()
      .mean;
}

std::optional<double> reported_ndcg(const ModelParameters& parameters, const Scorer& model,
                                    const Dataset& dataset, const Execution& execution) {
  constexpr double most_scores = 1e10;
  if (parameters.neighbours == 0 || !dataset.validation) return {};
  const double scores =
      static_cast<double>(dataset.validation->targets.rows) * static_cast<double>(model.items());
  return scores > most_scores ? std::nullopt : validation_ndcg(model, dataset, execution);
}

}  // namespace poise
