#include "poise/evaluate/metrics.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/ranges.h>

#include "poise/base/error.hpp"
#include "poise/base/suggest.hpp"

namespace poise {
namespace {

/// In the order of MetricKind.
constexpr std::array<std::string_view, 8> metric_names = {
    "recall", "ndcg", "precision", "map", "hit-rate", "mrr", "coverage", "stratified-recall"};
constexpr std::int64_t largest_at = std::int64_t{1} << 31;

/// The ranks, from 1, of targets among the first `at` items.
std::vector<std::int64_t> hit_ranks(const UserRanking& ranking, std::int64_t at) {
  std::vector<std::int64_t> ranks;
  const auto end = std::min<std::int64_t>(at, ranking.items.size());
  for (std::int64_t r = 0; r < end; ++r) {
    if (std::binary_search(ranking.targets.begin(), ranking.targets.end(), ranking.items[r]))
      ranks.push_back(r + 1);
  }
  return ranks;
}

double discount(std::int64_t rank) { return 1 / std::log2(static_cast<double>(rank + 1)); }

double ndcg(std::span<const std::int64_t> hits, std::int64_t findable) {
  double gained = 0;
  for (const std::int64_t rank : hits) gained += discount(rank);
  double ideal = 0;
  for (std::int64_t rank = 1; rank <= findable; ++rank) ideal += discount(rank);
  return gained / ideal;
}

double average_precision(std::span<const std::int64_t> hits, std::int64_t findable) {
  double sum = 0;
  for (std::size_t h = 0; h < hits.size(); ++h)
    sum += static_cast<double>(h + 1) / static_cast<double>(hits[h]);
  return sum / static_cast<double>(findable);
}

double stratified_recall(std::span<const std::int64_t> hits, const UserRanking& ranking,
                         std::int64_t counted) {
  const auto weight = [&](std::int32_t item) { return ranking.stratified_weights[item]; };
  std::vector<double> found;
  for (const std::int64_t rank : hits) found.push_back(weight(ranking.items[rank - 1]));
  std::vector<double> ideal(ranking.targets.size());
  std::transform(ranking.targets.begin(), ranking.targets.end(), ideal.begin(), weight);
  // Both sums add the largest weights first, so that finding everything gives exactly 1.
  std::sort(found.begin(), found.end(), std::greater<>());
  std::sort(ideal.begin(), ideal.end(), std::greater<>());
  return std::accumulate(found.begin(), found.end(), 0.0) /
         std::accumulate(ideal.begin(), ideal.begin() + counted, 0.0);
}

}  // namespace

Metric parse_metric(std::string_view text) {
  const std::size_t at = text.find('@');
  const auto* const name = std::find(metric_names.begin(), metric_names.end(), text.substr(0, at));
  if (at == std::string_view::npos || name == metric_names.end()) {
    fail(ErrorKind::usage, "unknown metric '{}'{}: use one of {}, followed by @ and a number, e.g. ndcg@100",
         text, name == metric_names.end() ? did_you_mean(text.substr(0, at), metric_names) : "",
         fmt::join(metric_names, ", "));
  }
  const std::string_view digits = text.substr(at + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 1 || number > largest_at) {
    fail(ErrorKind::usage, "metric '{}' needs a whole number from 1 to {} after the @", text, largest_at);
  }
  return {static_cast<MetricKind>(name - metric_names.begin()), number};
}

std::vector<Metric> parse_metrics(std::string_view text) {
  std::vector<Metric> metrics;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t last = std::min(text.find(',', first), text.size());
    const Metric metric = parse_metric(text.substr(first, last - first));
    if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) metrics.push_back(metric);
    first = last + 1;
  }
  return metrics;
}

std::string to_string(const Metric& metric) {
  return fmt::format("{}@{}", metric_names[static_cast<int>(metric.kind)], metric.at);
}

double measure(const Metric& metric, RecallDenominator denominator, const UserRanking& ranking) {
  assert(!ranking.targets.empty() && metric.kind != MetricKind::coverage);
  const std::vector<std::int64_t> hits = hit_ranks(ranking, metric.at);
  const auto found = static_cast<double>(hits.size());
  const auto targets = static_cast<std::int64_t>(ranking.targets.size());
  const std::int64_t findable = std::min(metric.at, targets);
  const std::int64_t counted = denominator == RecallDenominator::min ? findable : targets;
  switch (metric.kind) {
    case MetricKind::recall:
      return found / static_cast<double>(counted);
    case MetricKind::ndcg:
      return ndcg(hits, findable);
    case MetricKind::precision:
      return found / static_cast<double>(metric.at);
    case MetricKind::map:
      return average_precision(hits, findable);
    case MetricKind::hit_rate:
      return hits.empty() ? 0 : 1;
    case MetricKind::mrr:
      return hits.empty() ? 0 : 1 / static_cast<double>(hits.front());
    case MetricKind::stratified_recall:
      return stratified_recall(hits, ranking, counted);
    case MetricKind::coverage:
      break;
  }
  return 0;
}

std::vector<double> stratified_weights(std::span<const std::int64_t> training_counts) {
  std::vector<double> weights(training_counts.size());
  std::transform(training_counts.begin(), training_counts.end(), weights.begin(), [](std::int64_t count) {
    return 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, count)));
  });
  return weights;
}

}  // namespace poise
