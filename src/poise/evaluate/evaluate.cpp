#include "poise/evaluate/evaluate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <numeric>

#include "poise/base/error.hpp"
#include "poise/base/parallel.hpp"
#include "poise/comm/packed.hpp"
#include "poise/comm/processes.hpp"
#include "poise/evaluate/exposure.hpp"
#include "poise/evaluate/metric_traits.hpp"
#include "poise/evaluate/user_ranking.hpp"
#include "poise/recommend/ranked_blocks.hpp"

namespace poise {
namespace {

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

void check(const Scorer& scorer, const UserRows& histories, CsrView targets, const EvaluateOptions& options) {
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
}

/// The targets that are in their user's history, or disliked.
std::int64_t known_targets(const UserRows& histories, CsrView targets, int threads) {
  std::atomic<std::int64_t> known = 0;
  const Tiling tiling{targets.rows, 256};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    std::int64_t of_tile = 0;
    for (std::int64_t row = tiling.first(tile); row < tiling.last(tile); ++row) {
      const auto history = histories.items.row(row);
      const auto disliked = histories.any_disliked() ? histories.disliked.row(row) : Indices();
      for (const std::int32_t target : targets.row(row)) {
        const bool is_known =
            std::ranges::binary_search(history, target) || std::ranges::binary_search(disliked, target);
        of_tile += is_known ? 1 : 0;
      }
    }
    known += of_tile;
  });
  return known;
}

/// The R of the metrics that are one number for all users.
std::vector<std::int64_t> exposure_cutoffs(const std::vector<Metric>& metrics) {
  std::vector<std::int64_t> cutoffs;
  for (const Metric& metric : metrics) {
    if (!is_per_user(metric)) cutoffs.push_back(metric.at);
  }
  return cutoffs;
}

/// The items that training users have, or those that none has.
std::vector<std::int32_t> items_with(bool users, std::span<const std::int64_t> counts, std::int64_t items) {
  if (std::ssize(counts) != items)
    fail(ErrorKind::input, "cold items are known by {} training counts, and the model has {} items",
         counts.size(), items);
  std::vector<std::int32_t> result;
  for (std::int32_t i = 0; i < items; ++i) {
    if ((counts[i] > 0) == users) result.push_back(i);
  }
  return result;
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
  ItemFacts facts;
  std::int64_t longest;
  bool whole_rows;                 ///< a metric reads the scores of all items
  std::vector<std::int32_t> cold;  ///< the items to rank, if only these are
  std::vector<std::int32_t> warm;  ///< the others
  Exposure exposure;
  EvaluationResult result = {};

  /// Measures the users of `some`, rows of the histories; place(k) is the index of row k among all users, or
  /// none if it has no targets.
  template <class Place>
  void measure(const UserRows& some, const Place& place) {
    const auto measure_user = [&](std::int64_t user, const UserRanking& ranking) {
      exposure.add(ranking.items);
      if (options.item_hits_at > 0) count_hits(ranking, options.item_hits_at, result.item_hits);
      const std::vector<std::int64_t> hits = hit_ranks(ranking);
      for (std::size_t c = 0; c < result.per_user_metrics.size(); ++c)
        result.per_user(user, static_cast<std::int64_t>(c)) =
            poise::measure(result.per_user_metrics[c], options.denominator, ranking, hits);
    };
    if (!ranker) ranker.emplace(scorer, backend, execution);
    const auto own_history = [&](std::int64_t first, std::int64_t count, Csr& room) {
      if (!some.any_disliked()) return some.items.block(first, count);
      room = all_known(some.block(first, count));
      return room.view();
    };
    const auto only = options.cold_items ? std::optional<Indices>(cold) : std::nullopt;
    ranker->rank({some, own_history, longest, only, whole_rows}, "evaluating", [&](const RankedUser& ranked) {
      const std::int64_t user = place(ranked.row);
      if (user < 0) return;
      const auto history = some.items.row(ranked.row);
      Csr room;
      std::span<const std::int32_t> known = history;
      if (whole_rows && some.any_disliked()) {
        room = all_known(some.block(ranked.row, 1));
        known = room.indices;
      }
      std::vector<std::int32_t> left_out;
      if (whole_rows && options.cold_items) {
        std::ranges::set_union(warm, known, std::back_inserter(left_out));
        known = left_out;
      }
      measure_user(user, {.items = ranked.items,
                          .targets = targets.row(result.user_rows[user]),
                          .history = history,
                          .known = known,
                          .scores = ranked.all_scores,
                          .facts = &facts});
    });
  }
};

Evaluation::Evaluation(const Scorer& scorer, const UserRows& histories, CsrView targets,
                       const TrainingView& training, EvaluateOptions options, const Execution& execution,
                       Backend* backend) {
  check(scorer, histories, targets, options);
  EvaluationResult result;
  for (std::int64_t row = 0; row < targets.rows; ++row) {
    if (targets.row_size(row) > 0) result.user_rows.push_back(row);
  }
  result.users = std::ssize(result.user_rows);
  result.users_without_targets = targets.rows - result.users;
  if (result.users == 0) fail(ErrorKind::input, "no user has a target: there is nothing to evaluate on");
  result.targets = targets.entries();
  result.known_targets = known_targets(histories, targets, execution.threads);
  std::int64_t longest = std::max<std::int64_t>(1, options.item_hits_at);
  for (const Metric& metric : options.metrics) {
    longest = std::max(longest, metric.at);
    if (is_per_user(metric)) result.per_user_metrics.push_back(metric);
  }
  result.per_user = Matrix<double>(result.users, std::ssize(result.per_user_metrics));
  if (options.item_hits_at > 0) result.item_hits.assign(scorer.items(), 0);
  const bool whole_rows = std::ranges::any_of(
      options.metrics, [](const Metric& metric) { return !traits_of(metric.kind).of_a_list; });
  ItemFacts facts(scorer.items(), training, options.metrics, execution.threads);
  Exposure exposure(exposure_cutoffs(options.metrics), scorer.items());
  std::vector<std::int32_t> cold;
  std::vector<std::int32_t> warm;
  if (options.cold_items) {
    cold = items_with(false, training.counts, scorer.items());
    warm = items_with(true, training.counts, scorer.items());
  }
  measuring_ = std::make_unique<Measuring>(Measuring{.scorer = scorer,
                                                     .histories = histories,
                                                     .targets = targets,
                                                     .options = std::move(options),
                                                     .execution = execution,
                                                     .backend = backend,
                                                     .ranker = std::nullopt,
                                                     .facts = std::move(facts),
                                                     .longest = std::min(longest, scorer.items()),
                                                     .whole_rows = whole_rows,
                                                     .cold = std::move(cold),
                                                     .warm = std::move(warm),
                                                     .exposure = std::move(exposure),
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
      packed({bytes_of(values), bytes_of(measuring_->exposure.counts()), bytes_of(result.item_hits)}));
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    const std::vector<std::string> part = unpacked(parts[rank]);
    const std::vector<double> theirs = values_of<double>(part.at(0));
    const auto columns = std::ssize(result.per_user_metrics);
    for (std::size_t k = 0; k < theirs.size(); ++k) {
      const auto place = static_cast<std::int64_t>(k);
      result.per_user(first_of(static_cast<std::int64_t>(rank)) + place / columns, place % columns) =
          theirs[k];
    }
    measuring_->exposure.add_counts(values_of<std::int64_t>(part.at(1)));
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
    result.metrics.push_back(
        is_per_user(metric)
            ? summarize(metric, result.per_user, column++)
            : MetricResult{.metric = metric,
                           .mean = poise::measure_all(metric, measuring_->exposure.shown(metric.at))});
  }
  return std::move(result);
}

void check_findable(const EvaluationResult& result) {
  if (result.known_targets == result.targets)
    fail(ErrorKind::input,
         "every target is in its user's history or disliked, and neither is recommended: no model could find "
         "one; give as targets what the histories leave out");
}

EvaluationResult evaluate(const Scorer& scorer, const UserRows& histories, CsrView targets,
                          const TrainingView& training, const EvaluateOptions& options,
                          const Execution& execution, Backend* backend) {
  Evaluation evaluation(scorer, histories, targets, training, options, execution, backend);
  evaluation.measure_all();
  return evaluation.finish();
}

}  // namespace poise
