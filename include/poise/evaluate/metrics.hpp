#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

/// docs/metrics.md defines each of them.
enum class MetricKind {
  recall,
  ndcg,
  precision,
  map,
  hit_rate,
  mrr,
  stratified_recall,
  auc,
  popularity,
  tail_share,
  novelty,
  diversity,
  calibration,
  coverage,
  gini,
  entropy
};

/// A metric of the first `at` items of a ranked list, e.g. ndcg@100; auc is of the whole ranking, and its
/// `at` is 0.
struct Metric {
  MetricKind kind;
  std::int64_t at;
  bool operator==(const Metric&) const = default;
};

/// The divisor of recall and stratified recall: the most that can be found in R items, or all targets.
enum class RecallDenominator { min, targets };

/// What a metric has to know of the training data: nothing, the users of each item, or every user's items.
enum class TrainingNeed { nothing, counts, rows };

/// Reads "recall@20" or "auc". Error{usage} for anything else, and unless 1 <= R <= 2^31.
Metric parse_metric(std::string_view text);
/// Reads "recall@20,recall@50,ndcg@100"; a repeated metric counts once.
std::vector<Metric> parse_metrics(std::string_view text);
/// Reads a metric that a search can maximize: Error{usage} for one that has no value for a user, or is better
/// the lower it is.
Metric parse_aim(std::string_view text);
/// "recall@20".
std::string to_string(const Metric& metric);

/// Whether it is a mean over users; else it is one number for all of them.
bool is_per_user(const Metric& metric);

/// What these metrics need together.
TrainingNeed training_need(std::span<const Metric> metrics);

}  // namespace poise
