#include "poise/evaluate/evaluate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "poise/base/error.hpp"
#include "poise/recommend/ranked_blocks.hpp"
#include "poise/recommend/scored_blocks.hpp"
#include "poise/recommend/top_k.hpp"

namespace poise {
namespace {

bool asks_for(const std::vector<Metric>& metrics, MetricKind kind) {
  return std::any_of(metrics.begin(), metrics.end(),
                     [&](const Metric& metric) { return metric.kind == kind; });
}

/// The best rank that each item reaches in any list. A minimum does not depend on the order of the lists, so
/// threads may report in any.
class BestRanks {
 public:
  explicit BestRanks(std::int64_t items) : ranks_(items, std::numeric_limits<std::int64_t>::max()) {}

  void add(std::span<const std::int32_t> ranked) {
    for (std::size_t r = 0; r < ranked.size(); ++r) {
      const std::atomic_ref best(ranks_[ranked[r]]);
      const auto rank = static_cast<std::int64_t>(r + 1);
      std::int64_t seen = best.load(std::memory_order_relaxed);
      while (rank < seen && !best.compare_exchange_weak(seen, rank, std::memory_order_relaxed)) {
      }
    }
  }

  [[nodiscard]] double coverage(std::int64_t at) const {
    const auto covered =
        std::count_if(ranks_.begin(), ranks_.end(), [&](std::int64_t rank) { return rank <= at; });
    return static_cast<double>(covered) / static_cast<double>(ranks_.size());
  }

 private:
  std::vector<std::int64_t> ranks_;
};

/// Sums of whole numbers, in whatever order threads add them.
void count_hits(const UserRanking& ranking, std::int64_t at, std::vector<std::int64_t>& hits) {
  const auto top = ranking.items.first(std::min<std::size_t>(at, ranking.items.size()));
  for (const std::int32_t item : top) {
    if (std::ranges::binary_search(ranking.targets, item))
      std::atomic_ref(hits[item]).fetch_add(1, std::memory_order_relaxed);
  }
}

MetricResult summarize(const Metric& metric, const Matrix<double>& per_user, std::int64_t column) {
  const auto users = static_cast<double>(per_user.rows());
  double sum = 0;
  for (std::int64_t u = 0; u < per_user.rows(); ++u) sum += per_user(u, column);
  const double mean = sum / users;
  double squares = 0;
  for (std::int64_t u = 0; u < per_user.rows(); ++u) squares += std::pow(per_user(u, column) - mean, 2);
  return {metric, mean, std::sqrt(squares / users) / std::sqrt(users)};
}

void check(const Scorer& scorer, CsrView histories, CsrView targets,
           std::span<const std::int64_t> training_counts, const EvaluateOptions& options) {
  if (options.metrics.empty())
    fail(ErrorKind::usage, "no metric is asked for: name at least one, e.g. ndcg@100");
  if (targets.rows != histories.rows) {
    fail(ErrorKind::input, "there are {} histories but {} rows of targets: they must be of the same users",
         histories.rows, targets.rows);
  }
  if (targets.cols != scorer.items()) {
    fail(ErrorKind::input,
         "the targets are over {} items but the model knows {}: use the data it was trained on", targets.cols,
         scorer.items());
  }
  if (asks_for(options.metrics, MetricKind::stratified_recall) &&
      static_cast<std::int64_t>(training_counts.size()) != scorer.items()) {
    fail(ErrorKind::input, "stratified recall needs the training count of each of the {} items but got {}",
         scorer.items(), training_counts.size());
  }
}

}  // namespace

EvaluationResult evaluate(const Scorer& scorer, CsrView histories, CsrView targets,
                          std::span<const std::int64_t> training_counts, const EvaluateOptions& options,
                          const Execution& execution, Backend* backend) {
  check(scorer, histories, targets, training_counts, options);
  EvaluationResult result;
  std::vector<std::int64_t> measured_before(targets.rows);
  for (std::int64_t row = 0; row < targets.rows; ++row) {
    measured_before[row] = static_cast<std::int64_t>(result.user_rows.size());
    if (targets.row_size(row) > 0) result.user_rows.push_back(row);
  }
  result.users = static_cast<std::int64_t>(result.user_rows.size());
  result.users_without_targets = targets.rows - result.users;
  if (result.users == 0) fail(ErrorKind::input, "no user has a target: there is nothing to evaluate on");

  std::int64_t longest = options.item_hits_at;
  for (const Metric& metric : options.metrics) {
    longest = std::max(longest, metric.at);
    if (metric.kind != MetricKind::coverage) result.per_user_metrics.push_back(metric);
  }
  longest = std::min(longest, scorer.items());
  const auto columns = static_cast<std::int64_t>(result.per_user_metrics.size());
  result.per_user = Matrix<double>(result.users, columns);
  const bool wants_coverage = asks_for(options.metrics, MetricKind::coverage);
  if (options.item_hits_at > 0) result.item_hits.assign(scorer.items(), 0);
  BestRanks best_ranks(wants_coverage ? scorer.items() : 0);
  const std::vector<double> weights = stratified_weights(training_counts);

  const auto measure_user = [&](std::int64_t row, std::span<const std::int32_t> items) {
    const UserRanking ranking{items, targets.row(row), weights};
    if (wants_coverage) best_ranks.add(ranking.items);
    if (options.item_hits_at > 0) count_hits(ranking, options.item_hits_at, result.item_hits);
    for (std::int64_t c = 0; c < columns; ++c) {
      result.per_user(measured_before[row], c) =
          measure(result.per_user_metrics[c], options.denominator, ranking);
    }
  };
  constexpr const char* task = "evaluating";
  if (const auto elsewhere = off_host(scorer, backend, execution)) {
    for_each_ranked_user(
        *elsewhere, scorer.items(), histories, histories, longest, task, *backend, execution,
        [&](std::int64_t row, std::span<const std::int32_t> items, std::span<const float> /*scores*/) {
          if (targets.row_size(row) > 0) measure_user(row, items);
        });
  } else {
    for_each_scored_block(
        scorer, histories, task, execution, [&](std::int64_t first, MatrixView<const float> scores) {
          std::vector<std::int32_t> items(longest);
          std::vector<float> top_scores(longest);
          for (std::int64_t row = first; row < first + scores.rows; ++row) {
            if (targets.row_size(row) == 0) continue;
            const Candidates candidates{.excluded = histories.row(row)};
            const std::int64_t size = top_k(scores.row(row - first), candidates, items, top_scores);
            measure_user(row, std::span(items).first(size));
          }
        });
  }

  std::int64_t column = 0;
  for (const Metric& metric : options.metrics) {
    if (metric.kind == MetricKind::coverage) {
      result.metrics.push_back({metric, best_ranks.coverage(metric.at)});
    } else {
      result.metrics.push_back(summarize(metric, result.per_user, column++));
    }
  }
  return result;
}

}  // namespace poise
