#include "poise/search/chosen.hpp"

#include <utility>

namespace poise {

namespace {

/// The figures of a model on a part of these data.
Estimates measure_part(const Trained& trained, const Dataset& dataset, const std::optional<HeldOut>& part,
                       Points& points, const Execution& execution) {
  if (!part || part->targets.entries() == 0) return {};
  const std::vector<std::int64_t> counts = column_counts(dataset.train.view());
  return estimates_of(evaluate(*trained.model, dataset.histories(*part), part->targets.view(),
                               {counts, dataset.train.view()}, points.options().evaluation(), execution,
                               &points.trainer().backend()));
}

}  // namespace

Chosen train_chosen(const ModelParameters& parameters, Points& points, const AllRows& all_rows,
                    const Execution& execution) {
  Trainer& trainer = points.trainer();
  const auto measure = [&](const Trained& trained, const Dataset& dataset,
                           std::optional<HeldOut> Dataset::*part) {
    return measure_part(trained, dataset, dataset.*part, points, execution);
  };
  const Dataset& dataset = trainer.data().dataset;
  if (all_rows.data == nullptr) {
    Trained trained = trainer.train(parameters);
    Estimates validation = measure(trained, dataset, &Dataset::validation);
    Estimates test = measure(trained, dataset, &Dataset::test);
    return {.trained = std::move(trained), .validation = std::move(validation), .test = std::move(test)};
  }
  Estimates validation = measure(trainer.train_to_score(parameters), dataset, &Dataset::validation);
  trainer.forget();
  Trained trained = Trainer(*all_rows.data, all_rows.folder, Keep::nothing, trainer.memory_limit(),
                            trainer.backend(), execution)
                        .train(parameters);
  Estimates test = measure(trained, all_rows.data->dataset, &Dataset::test);
  return {.trained = std::move(trained), .validation = std::move(validation), .test = std::move(test)};
}

}  // namespace poise
