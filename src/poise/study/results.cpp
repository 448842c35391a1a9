#include "poise/study/results.hpp"

#include <algorithm>

#include "poise/model/family.hpp"

namespace poise {

const Estimate* find(const Estimates& estimates, std::string_view metric) {
  const auto found = std::ranges::find(estimates, metric, &Estimates::value_type::first);
  return found == estimates.end() ? nullptr : &found->second;
}

const std::vector<Metric>& beyond_accuracy_metrics() {
  static const std::vector<Metric> metrics = parse_metrics(
      "coverage@20,gini@20,entropy@20,popularity@20,tail-share@20,novelty@20,diversity@20,calibration@20");
  return metrics;
}

SearchedValues searched_values(const ModelParameters& parameters) {
  const WeightingOptions& weighting = parameters.weighting;
  return {.alpha = weighting.alpha,
          .lambda = parameters.lambda,
          .dropout = parameters.family == Family::full_rank ? parameters.dropout : 0,
          .lambda_exponent =
              family_of(parameters).find("lambda-exponent") != nullptr ? parameters.lambda_exponent : 0,
          .gamma = weighting.scheme == Scheme::inverse_popularity ? weighting.gamma : 0,
          .feature_weight = parameters.family == Family::full_rank ? parameters.feature_weight : 0,
          .alpha_negative = weighting.alpha_negative};
}

std::string_view to_string(UnfinishedSearch::State state) {
  constexpr std::string_view names[] = {"searching", "not trained", "not begun"};
  return names[static_cast<int>(state)];
}

const StudyRow* find_row(const StudyResults& results, std::string_view data, const StudyModel& model,
                         RowKind kind) {
  const auto found = std::ranges::find_if(results.rows, [&](const StudyRow& row) {
    return row.kind == kind && row.data == data && row.model == model;
  });
  return found == results.rows.end() ? nullptr : &*found;
}

const StudyPair* find_pair(const StudyResults& results, std::string_view data, const StudyModel& model,
                           RowKind kind, std::string_view metric) {
  const auto found = std::ranges::find_if(results.pairs, [&](const StudyPair& pair) {
    return pair.kind == kind && pair.metric == metric && pair.data == data && pair.model == model;
  });
  return found == results.pairs.end() ? nullptr : &*found;
}

bool without_test(const StudyResults& results) {
  return !results.rows.empty() &&
         std::ranges::all_of(results.rows, [](const StudyRow& row) { return row.test.empty(); });
}

const StudyRow* best_on_validation(const StudyResults& results, std::string_view data) {
  const StudyRow* best = nullptr;
  double highest = 0;
  const bool any = without_test(results);
  for (const StudyRow& row : results.rows) {
    if (row.test.empty() && !any) continue;
    const Estimate* const estimate = row.data == data ? find(row.validation, results.choice) : nullptr;
    if (estimate == nullptr || (best != nullptr && !(estimate->mean > highest))) continue;
    best = &row;
    highest = estimate->mean;
  }
  return best;
}

}  // namespace poise
