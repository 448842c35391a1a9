#include "poise/study/finals.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>

#include "poise/base/error.hpp"
#include "poise/model/family.hpp"
#include "poise/study/popularity_bins.hpp"
#include "poise/study/statistics.hpp"

namespace poise {
namespace {

std::vector<double> values_of(const EvaluationResult& result, const Metric& metric) {
  const auto found = std::ranges::find(result.per_user_metrics, metric);
  if (found == result.per_user_metrics.end()) return {};
  const std::int64_t column = found - result.per_user_metrics.begin();
  std::vector<double> values(result.per_user.rows());
  for (std::int64_t user = 0; user < result.per_user.rows(); ++user)
    values[user] = result.per_user(user, column);
  return values;
}

PairedDifference difference_of(const EvaluationResult& a, const EvaluationResult& b, const Metric& metric) {
  return paired_difference(values_of(a, metric), values_of(b, metric));
}

/// The estimates of these metrics.
Estimates chosen_estimates(const EvaluationResult& result, const std::vector<Metric>& metrics) {
  Estimates estimates;
  for (const MetricResult& each : result.metrics) {
    if (std::ranges::find(metrics, each.metric) != metrics.end())
      estimates.push_back({to_string(each.metric), {each.mean, each.standard_error}});
  }
  return estimates;
}

/// A row less the unweighted one, on those of these metrics that have a value for each user.
std::vector<StudyPair> pairs_of(const RowName& name, const EvaluationResult& row,
                                const EvaluationResult& unweighted, const std::vector<Metric>& metrics) {
  std::vector<StudyPair> pairs;
  for (const Metric& metric : metrics) {
    if (is_per_user(metric))
      pairs.push_back({{name, to_string(metric), difference_of(row, unweighted, metric)}});
  }
  return pairs;
}

std::vector<ConvergenceStep> convergence_of(const ModelParameters& parameters, const Trained& trained) {
  std::vector<ConvergenceStep> steps;
  for (const LowRankRound& round : trained.trace)
    steps.push_back({.step = round.round, .objective = round.objective, .certificate = {}});
  for (std::size_t k = 0; k < trained.worst_column.size(); ++k)
    steps.push_back({.step = static_cast<int>(k), .objective = {}, .certificate = trained.worst_column[k]});
  if (parameters.low_rank() && !steps.empty()) steps.back().certificate = trained.certificate.relative;
  return steps;
}

/// The part, if it has targets.
const HeldOut* part_of(const std::optional<HeldOut>& part) {
  return part && part->targets.entries() > 0 ? &*part : nullptr;
}

}  // namespace

TestPart::TestPart(std::string data, Points& points, const AllRows& all_rows, const Execution& execution)
    : data_(std::move(data)),
      dataset_(all_rows.data ? all_rows.data->dataset : points.trainer().data().dataset),
      points_(points),
      execution_(execution) {
  if (all_rows.data)
    on_all_rows_.emplace(*all_rows.data, all_rows.folder, Keep::nothing, points.trainer().memory_limit(),
                         points.trainer().backend(), execution);
  training_counts_ = column_counts(dataset_.train.view());
  if (const HeldOut* const test = part_of(dataset_.test)) targets_ = column_counts(test->targets.view());
  MeasuredRow measured =
      row_of({.key = "popularity"}, RowKind::unweighted, {.family = Family::popularity, .lambda = 0});
  popularity_ = std::move(measured.row);
  popularity_test_ = std::move(measured.test);
}

std::pair<Trained, Estimates> TestPart::train(const ModelParameters& parameters) {
  Trainer& trainer = points_.trainer();
  const auto on_validation = [&](const Trained& trained) {
    const Dataset& dataset = trainer.data().dataset;
    const HeldOut& part = *dataset.validation;
    return estimates_of(evaluate(*trained.model, dataset.histories(part), part.targets.view(),
                                 {column_counts(dataset.train.view()), dataset.train.view()},
                                 points_.options().evaluation(), execution_, &trainer.backend()));
  };
  if (!on_all_rows_) {
    Trained trained = trainer.train(parameters);
    Estimates validation = on_validation(trained);
    return {std::move(trained), std::move(validation)};
  }
  Estimates validation = on_validation(trainer.train_to_score(parameters));
  trainer.forget();
  return {on_all_rows_->train(parameters), std::move(validation)};
}

MeasuredRow TestPart::row_of(const StudyModel& model, RowKind kind, const ModelParameters& parameters) {
  const auto begin = std::chrono::steady_clock::now();
  const auto [trained, validation] = train(parameters);
  MeasuredRow measured;
  StudyRow& row = measured.row;
  if (const HeldOut* const test = part_of(dataset_.test)) {
    EvaluateOptions options = points_.options().evaluation();
    const std::vector<Metric> asked = options.metrics;
    for (const Metric& metric : beyond_accuracy_metrics()) {
      if (std::ranges::find(asked, metric) == asked.end()) options.metrics.push_back(metric);
    }
    options.item_hits_at = popularity_cutoff;
    measured.test = evaluate(*trained.model, dataset_.histories(*test), test->targets.view(),
                             {training_counts_, dataset_.train.view()}, options, execution_,
                             &points_.trainer().backend());
    row.test = chosen_estimates(measured.test, asked);
    row.beyond = chosen_estimates(measured.test, beyond_accuracy_metrics());
    row.by_popularity =
        popularity_bins(training_counts_, targets_, measured.test.item_hits, popularity_bin_count);
  }
  static_cast<RowName&>(row) = {.data = data_, .model = model, .kind = kind};
  static_cast<SearchedValues&>(row) = searched_values(parameters);
  row.validation = validation;
  row.objective = trained.objective;
  row.observed_weight = trained.observed_weight;
  row.certificate = trained.certificate;
  row.converged = trained.converged;
  row.convergence = convergence_of(parameters, trained);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return measured;
}

std::vector<double> TestPart::popularity_per_user() const {
  return values_of(popularity_test_, points_.options().choice);
}

Finals TestPart::measure(const StudyModel& model,
                         const std::vector<std::pair<RowKind, ModelParameters>>& chosen) {
  std::vector<MeasuredRow> rows;
  rows.reserve(chosen.size());
  for (const auto& [kind, parameters] : chosen) rows.push_back(row_of(model, kind, parameters));
  return compare(std::move(rows));
}

Finals TestPart::compare(std::vector<MeasuredRow> rows) const {
  Finals finals;
  std::optional<EvaluationResult> unweighted;
  for (MeasuredRow& measured : rows) {
    const Metric& choice = points_.options().choice;
    finals.per_user.push_back(values_of(measured.test, choice));
    if (measured.row.test.empty()) {
      finals.rows.push_back(std::move(measured.row));
      continue;
    }
    const auto name = static_cast<const RowName&>(measured.row);
    finals.against_popularity.push_back(
        {{name, to_string(choice), difference_of(measured.test, popularity_test_, choice)}});
    if (name.kind == RowKind::unweighted) {
      unweighted = std::move(measured.test);
    } else if (unweighted) {
      const auto append = [&](std::vector<StudyPair>& to, const std::vector<Metric>& metrics) {
        std::ranges::move(pairs_of(name, measured.test, *unweighted, metrics), std::back_inserter(to));
      };
      append(finals.pairs, points_.options().evaluation().metrics);
      append(finals.beyond_pairs, beyond_accuracy_metrics());
    }
    finals.rows.push_back(std::move(measured.row));
  }
  return finals;
}

}  // namespace poise
