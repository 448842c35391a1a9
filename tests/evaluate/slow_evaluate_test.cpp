#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "poise/evaluate/evaluate.hpp"

#include "support/random_data.hpp"
#include "support/table_scorer.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::random_matrix;
using testing::TableScorer;

const std::string every_metric =
    "recall@1,recall@7,recall@1000,ndcg@1,ndcg@5,ndcg@1000,precision@3,map@4,map@900,hit-rate@2,mrr@9,"
    "coverage@2,"
    "coverage@50,stratified-recall@3,stratified-recall@999";

struct Case {
  Matrix<float> table;
  Csr histories;
  Csr targets;
  std::vector<std::int64_t> counts;
};

/// Ties everywhere, users without history, without targets, with everything left out, targets inside the
/// history.
Case random_case(unsigned seed) {
  const std::int64_t users = 60 + seed * 37 % 150;
  const std::int64_t items = 3 + seed * 53 % 90;
  Case result{random_matrix<float>(users, items, seed, seed % 3 == 0 ? 0 : 4),
              random_csr(users, items, seed % 4 == 0 ? 0.9 : 0.2, true, seed + 100),
              random_csr(users, items, seed % 2 == 0 ? 0.03 : 0.3, false, seed + 200),
              {}};
  std::int64_t count = seed;
  for (std::int64_t i = 0; i < items; ++i) result.counts.push_back(count = count * 31 % 17);
  return result;
}

/// A user's whole ranking by sorting all items that are not in the history.
std::vector<int> whole_ranking(const Case& data, std::int64_t user) {
  const auto history = data.histories.view().row(user);
  const std::set<int> known(history.begin(), history.end());
  std::multimap<std::pair<float, int>, int> ordered;
  for (int i = 0; i < data.table.cols(); ++i) {
    if (known.count(i) == 0) ordered.insert({{-data.table(user, i), i}, i});
  }
  std::vector<int> ranking;
  for (const auto& entry : ordered) ranking.push_back(entry.second);
  return ranking;
}

/// The metric's textbook formula, position by position.
long double slow_value(const Case& data, const Metric& metric, bool all_targets,
                       const std::vector<int>& ranking, const std::set<int>& wanted) {
  const auto weight = [&](int item) { return 1 / std::sqrt(std::max<long double>(1, data.counts[item])); };
  long double hits = 0;
  long double gain = 0;
  long double precisions = 0;
  long double first = 0;
  long double weights = 0;
  for (std::int64_t rank = 1; rank <= metric.at && rank <= static_cast<std::int64_t>(ranking.size());
       ++rank) {
    const int item = ranking[rank - 1];
    if (wanted.count(item) == 0) continue;
    hits += 1;
    gain += std::log(2.0L) / std::log(static_cast<long double>(rank + 1));
    precisions += hits / rank;
    weights += weight(item);
    if (first == 0) first = 1.0L / rank;
  }
  const auto targets = static_cast<std::int64_t>(wanted.size());
  const std::int64_t findable = std::min(targets, metric.at);
  long double ideal = 0;
  for (std::int64_t rank = 1; rank <= findable; ++rank) {
    ideal += std::log(2.0L) / std::log(static_cast<long double>(rank + 1));
  }
  std::multiset<long double, std::greater<>> target_weights;
  for (const int item : wanted) target_weights.insert(weight(item));
  long double heaviest = 0;
  std::int64_t taken = 0;
  for (const long double w : target_weights) heaviest += taken++ < (all_targets ? targets : findable) ? w : 0;
  switch (metric.kind) {
    case MetricKind::recall:
      return hits / (all_targets ? targets : findable);
    case MetricKind::ndcg:
      return gain / ideal;
    case MetricKind::precision:
      return hits / metric.at;
    case MetricKind::map:
      return precisions / findable;
    case MetricKind::hit_rate:
      return hits > 0 ? 1 : 0;
    case MetricKind::mrr:
      return first;
    case MetricKind::stratified_recall:
      return weights / heaviest;
    default:
      break;
  }
  ADD_FAILURE() << "not a metric of accuracy";
  return 0;
}

void compare(const Case& data, RecallDenominator denominator, const EvaluationResult& result) {
  std::vector<std::vector<long double>> values(result.metrics.size());
  std::vector<std::set<int>> covered(result.metrics.size());
  std::int64_t without = 0;
  std::int64_t measured = 0;
  for (std::int64_t user = 0; user < data.table.rows(); ++user) {
    const auto row = data.targets.view().row(user);
    const std::set<int> wanted(row.begin(), row.end());
    if (wanted.empty()) {
      ++without;
      continue;
    }
    const std::vector<int> ranking = whole_ranking(data, user);
    ASSERT_EQ(result.user_rows[measured], user);
    std::int64_t column = 0;
    for (std::size_t m = 0; m < result.metrics.size(); ++m) {
      const Metric& metric = result.metrics[m].metric;
      if (metric.kind == MetricKind::coverage) {
        for (std::size_t r = 0; r < ranking.size() && static_cast<std::int64_t>(r) < metric.at; ++r) {
          covered[m].insert(ranking[r]);
        }
        continue;
      }
      values[m].push_back(
          slow_value(data, metric, denominator == RecallDenominator::targets, ranking, wanted));
      ASSERT_NEAR(result.per_user(measured, column++), static_cast<double>(values[m].back()), 1e-12)
          << to_string(metric) << " of user " << user;
    }
    ++measured;
  }
  EXPECT_EQ(result.users, measured);
  EXPECT_EQ(result.users_without_targets, without);
  for (std::size_t m = 0; m < result.metrics.size(); ++m) {
    SCOPED_TRACE(to_string(result.metrics[m].metric));
    if (result.metrics[m].metric.kind == MetricKind::coverage) {
      EXPECT_EQ(result.metrics[m].mean, static_cast<double>(covered[m].size()) / data.table.cols());
      continue;
    }
    long double mean = 0;
    for (const long double value : values[m]) mean += value / measured;
    long double variance = 0;
    for (const long double value : values[m]) variance += (value - mean) * (value - mean) / measured;
    EXPECT_NEAR(result.metrics[m].mean, static_cast<double>(mean), 1e-12);
    EXPECT_NEAR(result.metrics[m].standard_error.value(), static_cast<double>(std::sqrt(variance / measured)),
                1e-12);
  }
}

TEST(SlowEvaluation, AgreesOnRandomCases) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Case data = random_case(seed);
    for (const auto denominator : {RecallDenominator::min, RecallDenominator::targets}) {
      SCOPED_TRACE(seed);
      const EvaluationResult result =
          evaluate(TableScorer(data.table), data.histories.view(), data.targets.view(), data.counts,
                   {.metrics = parse_metrics(every_metric), .denominator = denominator}, {.threads = 2});
      compare(data, denominator, result);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(SlowEvaluation, SameBitsOnAnyNumberOfThreads) {
  const Case data{random_matrix<float>(1000, 120, 1), random_csr(1000, 120, 0.1, false, 2),
                  random_csr(1000, 120, 0.02, false, 3), std::vector<std::int64_t>(120, 3)};
  const auto run = [&](int threads) {
    return evaluate(TableScorer(data.table), data.histories.view(), data.targets.view(), data.counts,
                    {.metrics = parse_metrics(every_metric)}, {.threads = threads});
  };
  const EvaluationResult one = run(1);
  for (const int threads : {2, 5}) {
    const EvaluationResult many = run(threads);
    ASSERT_EQ(many.user_rows, one.user_rows);
    for (std::size_t m = 0; m < one.metrics.size(); ++m) {
      EXPECT_EQ(many.metrics[m].mean, one.metrics[m].mean);
      EXPECT_EQ(many.metrics[m].standard_error, one.metrics[m].standard_error);
    }
    for (std::int64_t u = 0; u < one.users; ++u) {
      ASSERT_TRUE(std::ranges::equal(many.per_user.row(u), one.per_user.row(u))) << "user " << u;
    }
  }
}

}  // namespace
}  // namespace poise
