#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

enum class MetricKind { recall, ndcg, precision, map, hit_rate, mrr, coverage, stratified_recall };

/// A metric of the first `at` items of a ranked list, e.g. ndcg@100.
struct Metric {
  MetricKind kind;
  std::int64_t at;
  bool operator==(const Metric&) const = default;
};

/// The divisor of recall and stratified recall: the most that can be found in R items, or all targets.
enum class RecallDenominator { min, targets };

/// Reads "recall@20"; the names are recall, ndcg, precision, map, hit-rate, mrr, coverage, stratified-recall.
/// Error{usage} for anything else, and unless 1 <= R <= 2^31.
Metric parse_metric(std::string_view text);
/// Reads "recall@20,recall@50,ndcg@100"; a repeated metric counts once.
std::vector<Metric> parse_metrics(std::string_view text);
/// "recall@20".
std::string to_string(const Metric& metric);

/// One user's ranking: the input of a metric.
struct UserRanking {
  std::span<const std::int32_t> items;         ///< best first
  std::span<const std::int32_t> targets;       ///< ascending, at least one
  std::span<const double> stratified_weights;  ///< s_i for every item; for stratified recall only
};

/// One user's value, with R = metric.at, T targets, hit(r) = 1 where rank r <= R holds a target:
///
///     recall             sum hit(r) / min(R, T)                  (or / T)
///     ndcg               sum hit(r) / log2(r + 1)  /  sum_{r <= min(R, T)} 1 / log2(r + 1)
///     precision          sum hit(r) / R
///     map                sum hit(r) (hits up to r) / r  /  min(R, T)
///     hit-rate           1 if there is a hit, else 0
///     mrr                1 / (rank of the first hit), 0 without a hit
///     stratified-recall  sum of s over the hits / sum of the min(R, T) largest s of targets (or of all);
///     Steck 2011
///
/// Coverage has no value for a single user.
double measure(const Metric& metric, RecallDenominator denominator, const UserRanking& ranking);

/// s_i = (training count of item i)^-1/2, a count of 0 taken as 1.
std::vector<double> stratified_weights(std::span<const std::int64_t> training_counts);

}  // namespace poise
