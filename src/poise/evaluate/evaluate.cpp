#include "poise/evaluate/evaluate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "poise/base/error.hpp"
#include "poise/comm/packed.hpp"
#include "poise/comm/processes.hpp"
#include "poise/recommend/ranked_blocks.hpp"

namespace poise {
namespace {

bool asks_for(const std::vector<Metric>& metrics, MetricKind kind) {
  return std::any_of(metrics.begin(), metrics.end(),
                     [&](const Metric& metric) { return metric.kind == kind; });
}

/// Lowers each item's best rank over all lists to its rank in this list. A minimum does not depend on the
/// order of the lists, so threads may report in any order.
void lower_best_ranks(std::span<const std::int32_t> ranked, std::vector<std::int64_t>& best_ranks) {
  for (std::size_t r = 0; r < ranked.size(); ++r) {
    const std::atomic_ref best(best_ranks[ranked[r]]);
    const auto rank = static_cast<std::int64_t>(r + 1);
    std::int64_t seen = best.load(std::memory_order_relaxed);
    while (rank < seen && !best.compare_exchange_weak(seen, rank, std::memory_order_relaxed)) {
    }
  }
}

double coverage(const std::vector<std::int64_t>& best_ranks, std::int64_t at) {
  const auto covered = std::ranges::count_if(best_ranks, [&](std::int64_t rank) { return rank <= at; });
  return static_cast<double>(covered) / static_cast<double>(best_ranks.size());
}

/// Sums of whole numbers, which do not depend on the order of the threads.
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

void check(const Scorer& scorer, const UserRows& histories, CsrView targets,
           std::span<const std::int64_t> training_counts, const EvaluateOptions& options) {
  if (options.metrics.empty())
    fail(ErrorKind::usage, "no metric is asked for: name at least one, e.g. ndcg@100");
  if (targets.rows != histories.rows()) {
    fail(ErrorKind::input, "there are {} histories but {} rows of targets: they must be of the same users",
         histories.rows(), targets.rows);
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

/// These rows of a matrix, as a matrix.
Csr rows_of(CsrView matrix, std::span<const std::int64_t> rows) {
  Csr taken{.rows = std::ssize(rows), .cols = matrix.cols, .offsets = {0}};
  for (const std::int64_t row : rows) {
    const auto indices = matrix.row(row);
    const auto values = matrix.row_values(row);
    taken.indices.insert(taken.indices.end(), indices.begin(), indices.end());
    taken.values.insert(taken.values.end(), values.begin(), values.end());
    taken.offsets.push_back(taken.entries());
  }
  return taken;
}

}  // namespace

struct Evaluation::Measuring {
  const Scorer& scorer;
  UserRows histories;
  CsrView targets;
  EvaluateOptions options;
  Execution execution;
  Backend* backend;
  std::optional<Ranker> ranker;
  std::vector<double> weights;
  std::int64_t longest;
  bool wants_coverage;
  std::vector<std::int64_t> best_ranks;
  EvaluationResult result = {};

  /// Measures the users of `some`, rows of the histories; place(k) is the index of row k among all users, or
  /// none if it has no targets.
  template <class Place>
  void measure(const UserRows& some, const Place& place) {
    const auto measure_user = [&](std::int64_t user, std::span<const std::int32_t> items) {
      const UserRanking ranking{items, targets.row(result.user_rows[user]), weights};
      if (wants_coverage) lower_best_ranks(ranking.items, best_ranks);
      if (options.item_hits_at > 0) count_hits(ranking, options.item_hits_at, result.item_hits);
      for (std::size_t c = 0; c < result.per_user_metrics.size(); ++c)
        result.per_user(user, static_cast<std::int64_t>(c)) =
            poise::measure(result.per_user_metrics[c], options.denominator, ranking);
    };
    if (!ranker) ranker.emplace(scorer, backend, execution);
    const auto own_history = [&](std::int64_t first, std::int64_t count, Csr& room) {
      if (!some.any_disliked()) return some.items.block(first, count);
      room = all_known(some.block(first, count));
      return room.view();
    };
    ranker->rank(
        {some, own_history, longest}, "evaluating",
        [&](std::int64_t row, std::span<const std::int32_t> items, std::span<const float> /*scores*/) {
          if (const std::int64_t user = place(row); user >= 0) measure_user(user, items);
        });
  }
};

Evaluation::Evaluation(const Scorer& scorer, const UserRows& histories, CsrView targets,
                       std::span<const std::int64_t> training_counts, EvaluateOptions options,
                       const Execution& execution, Backend* backend) {
  check(scorer, histories, targets, training_counts, options);
  EvaluationResult result;
  for (std::int64_t row = 0; row < targets.rows; ++row) {
    if (targets.row_size(row) > 0) result.user_rows.push_back(row);
  }
  result.users = std::ssize(result.user_rows);
  result.users_without_targets = targets.rows - result.users;
  if (result.users == 0) fail(ErrorKind::input, "no user has a target: there is nothing to evaluate on");
  std::int64_t longest = options.item_hits_at;
  for (const Metric& metric : options.metrics) {
    longest = std::max(longest, metric.at);
    if (metric.kind != MetricKind::coverage) result.per_user_metrics.push_back(metric);
  }
  result.per_user = Matrix<double>(result.users, std::ssize(result.per_user_metrics));
  if (options.item_hits_at > 0) result.item_hits.assign(scorer.items(), 0);
  const bool wants_coverage = asks_for(options.metrics, MetricKind::coverage);
  measuring_ = std::make_unique<Measuring>(Measuring{
      .scorer = scorer,
      .histories = histories,
      .targets = targets,
      .options = std::move(options),
      .execution = execution,
      .backend = backend,
      .ranker = std::nullopt,
      .weights = stratified_weights(training_counts),
      .longest = std::min(longest, scorer.items()),
      .wants_coverage = wants_coverage,
      .best_ranks =
          std::vector(wants_coverage ? scorer.items() : 0, std::numeric_limits<std::int64_t>::max()),
      .result = std::move(result)});
}

Evaluation::~Evaluation() = default;

void Evaluation::measure(std::span<const std::int64_t> users) {
  std::vector<std::int64_t> rows;
  rows.reserve(users.size());
  for (const std::int64_t user : users) rows.push_back(measuring_->result.user_rows[user]);
  const UserRows& all = measuring_->histories;
  const Csr some = rows_of(all.items, rows);
  const Csr disliked = all.disliked.rows > 0 ? rows_of(all.disliked, rows) : Csr();
  measuring_->measure({some.view(), disliked.view(), all.dislike_share},
                      [&](std::int64_t row) { return users[row]; });
}

void Evaluation::measure_all() {
  std::vector<std::int64_t> places(measuring_->targets.rows, -1);
  const std::vector<std::int64_t>& rows = measuring_->result.user_rows;
  for (std::size_t user = 0; user < rows.size(); ++user) places[rows[user]] = static_cast<std::int64_t>(user);
  measuring_->measure(measuring_->histories, [&](std::int64_t row) { return places[row]; });
}

void Evaluation::measure_together(Processes& processes) {
  if (!processes.several()) return measure_all();
  EvaluationResult& result = measuring_->result;
  const auto first_of = [&](std::int64_t rank) { return result.users * rank / processes.size(); };
  std::vector<std::int64_t> own(first_of(processes.rank() + 1) - first_of(processes.rank()));
  std::iota(own.begin(), own.end(), first_of(processes.rank()));
  measure(own);
  std::vector<double> values;
  for (const std::int64_t user : own) {
    const auto row = result.per_user.row(user);
    values.insert(values.end(), row.begin(), row.end());
  }
  const std::vector<std::string> parts = processes.gather(
      packed({bytes_of(values), bytes_of(measuring_->best_ranks), bytes_of(result.item_hits)}));
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    const std::vector<std::string> part = unpacked(parts[rank]);
    const std::vector<double> theirs = values_of<double>(part.at(0));
    const auto columns = std::ssize(result.per_user_metrics);
    for (std::size_t k = 0; k < theirs.size(); ++k) {
      const auto place = static_cast<std::int64_t>(k);
      result.per_user(first_of(static_cast<std::int64_t>(rank)) + place / columns, place % columns) =
          theirs[k];
    }
    const std::vector<std::int64_t> ranks = values_of<std::int64_t>(part.at(1));
    for (std::size_t k = 0; k < ranks.size(); ++k)
      measuring_->best_ranks[k] = std::min(measuring_->best_ranks[k], ranks[k]);
    const std::vector<std::int64_t> hits = values_of<std::int64_t>(part.at(2));
    for (std::size_t k = 0; k < hits.size(); ++k) result.item_hits[k] += hits[k];
  }
}

void Evaluation::pause() { measuring_->ranker.reset(); }

const EvaluationResult& Evaluation::so_far() const { return measuring_->result; }

EvaluationResult Evaluation::finish() {
  EvaluationResult& result = measuring_->result;
  std::int64_t column = 0;
  for (const Metric& metric : measuring_->options.metrics) {
    if (metric.kind == MetricKind::coverage) {
      result.metrics.push_back({metric, coverage(measuring_->best_ranks, metric.at)});
    } else {
      result.metrics.push_back(summarize(metric, result.per_user, column++));
    }
  }
  return std::move(result);
}

EvaluationResult evaluate(const Scorer& scorer, const UserRows& histories, CsrView targets,
                          std::span<const std::int64_t> training_counts, const EvaluateOptions& options,
                          const Execution& execution, Backend* backend) {
  Evaluation evaluation(scorer, histories, targets, training_counts, options, execution, backend);
  evaluation.measure_all();
  return evaluation.finish();
}

}  // namespace poise
