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
using Real = long double;
using UserSet = std::set<int>;

/// Every metric beyond accuracy, and auc, written a second time from its definition in docs/metrics.md: loops
/// over users, items and pairs of items, sets instead of bits, sorting instead of counting.
struct SlowMetrics {
  Matrix<float> table;
  Csr train;
  Csr histories;
  Csr targets;

  [[nodiscard]] int items() const { return static_cast<int>(table.cols()); }
  static UserSet set_of(const Csr& matrix, std::int64_t row) {
    const auto entries = matrix.view().row(row);
    return {entries.begin(), entries.end()};
  }
  [[nodiscard]] std::vector<UserSet> users_of_items() const {
    std::vector<UserSet> users(items());
    for (int u = 0; u < train.rows; ++u) {
      for (const int i : set_of(train, u)) users[i].insert(u);
    }
    return users;
  }

  [[nodiscard]] std::vector<int> list(int user, std::int64_t at) const {
    const UserSet known = set_of(histories, user);
    std::vector<int> list;
    for (int i = 0; i < items(); ++i) {
      if (!known.contains(i)) list.push_back(i);
    }
    std::stable_sort(list.begin(), list.end(), [&](int a, int b) { return table(user, a) > table(user, b); });
    list.resize(std::min<std::size_t>(list.size(), at));
    return list;
  }

  /// 0, 1, 2: head, middle, tail. Whole counts join the head until it has a fifth, and the tail while it has
  /// no more.
  [[nodiscard]] std::vector<int> groups() const {
    std::map<std::size_t, std::vector<int>> by_count;
    std::size_t all = 0;
    const std::vector<UserSet> users = users_of_items();
    for (int i = 0; i < items(); ++i) {
      by_count[users[i].size()].push_back(i);
      all += users[i].size();
    }
    std::vector<int> group(items(), 1);
    std::size_t tail = 0;
    for (const auto& [count, members] : by_count) {
      tail += count * members.size();
      if (5 * tail > all) break;
      for (const int i : members) group[i] = 2;
    }
    std::size_t head = 0;
    for (auto each = by_count.rbegin(); each != by_count.rend() && 5 * head < all; ++each) {
      head += each->first * each->second.size();
      for (const int i : each->second) group[i] = 0;
    }
    return group;
  }

  [[nodiscard]] Real auc(int user) const {
    const UserSet known = set_of(histories, user);
    const UserSet wanted = set_of(targets, user);
    Real right = 0;
    Real pairs = 0;
    Real findable = 0;
    for (const int target : wanted) {
      findable += known.contains(target) ? 0 : 1;
      for (int i = 0; i < items(); ++i) {
        if (known.contains(i) || wanted.contains(i)) continue;
        pairs += 1;
        if (known.contains(target) || table(user, target) < table(user, i)) continue;
        right += table(user, target) > table(user, i) ? 1 : 0.5L;
      }
    }
    return pairs > 0 ? right / pairs : findable / static_cast<Real>(wanted.size());
  }

  [[nodiscard]] Real of_list(MetricKind kind, const std::vector<int>& list, const UserSet& history) const {
    const std::vector<UserSet> users = users_of_items();
    const std::vector<int> group = groups();
    const auto length = static_cast<Real>(std::max<std::size_t>(1, list.size()));
    Real sum = 0;
    switch (kind) {
      case MetricKind::popularity:
        for (const int i : list) sum += static_cast<Real>(users[i].size()) / length;
        return sum;
      case MetricKind::tail_share:
        for (const int i : list) sum += (group[i] == 2 ? 1 : 0) / length;
        return sum;
      case MetricKind::novelty:
        for (const int i : list)
          sum -= std::log2(static_cast<Real>(std::max<std::size_t>(1, users[i].size())) /
                           static_cast<Real>(train.rows)) /
                 length;
        return sum;
      case MetricKind::diversity: {
        if (list.size() < 2) return 0;
        for (const int i : list) {
          for (const int j : list) {
            if (i == j) continue;
            Real common = 0;
            for (const int u : users[i]) common += users[j].contains(u) ? 1 : 0;
            const auto sizes = static_cast<Real>(users[i].size()) * static_cast<Real>(users[j].size());
            sum += 1 - (sizes > 0 ? common / std::sqrt(sizes) : 0);
          }
        }
        return sum / (length * (length - 1));
      }
      case MetricKind::calibration: {
        Real wanted[3] = {};
        Real listed[3] = {};
        Real all = 0;
        for (int i = 0; i < items(); ++i) all += static_cast<Real>(users[i].size());
        for (const int i : history) wanted[group[i]] += 1 / static_cast<Real>(history.size());
        for (int i = 0; history.empty() && i < items(); ++i)
          wanted[group[i]] += all > 0 ? static_cast<Real>(users[i].size()) / all : 0;
        if (history.empty() && all == 0) wanted[2] = 1;
        for (const int i : list) listed[group[i]] += 1 / length;
        for (int g = 0; g < 3; ++g) {
          if (wanted[g] > 0) sum += wanted[g] * std::log(wanted[g] / (0.99L * listed[g] + 0.01L * wanted[g]));
        }
        return sum;
      }
      default:
        ADD_FAILURE() << "not a metric of a list";
        return 0;
    }
  }

  [[nodiscard]] Real of_all(const Metric& metric) const {
    std::map<int, Real> shown;
    Real all = 0;
    for (int user = 0; user < targets.rows; ++user) {
      if (set_of(targets, user).empty()) continue;
      for (const int i : list(user, metric.at)) {
        shown[i] += 1;
        all += 1;
      }
    }
    const auto catalogue = static_cast<Real>(items());
    if (metric.kind == MetricKind::coverage) return static_cast<Real>(shown.size()) / catalogue;
    Real sum = 0;
    if (metric.kind == MetricKind::entropy) {
      for (const auto& [item, times] : shown) sum -= times / all * std::log2(times / all);
      return sum;
    }
    // Half the mean absolute difference of two items, relative to the mean.
    for (int i = 0; i < items(); ++i) {
      for (int j = 0; j < items(); ++j) {
        sum += std::abs((shown.contains(i) ? shown[i] : 0) - (shown.contains(j) ? shown[j] : 0));
      }
    }
    return all > 0 ? sum / (2 * catalogue * all) : 0;
  }
};

/// Ties everywhere, users without history, with everything in it, without targets; catalogues of one item.
SlowMetrics random_slow_case(unsigned seed) {
  const std::int64_t users = 20 + seed * 37 % 60;
  const std::int64_t items = seed % 7 == 0 ? 1 : 3 + seed * 53 % 40;
  const std::int64_t training = seed % 3 == 0 ? 200 : 9;
  return {random_matrix<float>(users, items, seed, seed % 3 == 0 ? 0 : 4),
          random_csr(training, items, seed % 5 == 0 ? 0.02 : 0.3, true, seed + 300),
          random_csr(users, items, seed % 4 == 0 ? 0.9 : 0.2, true, seed + 100),
          random_csr(users, items, items > 1 && seed % 2 == 0 ? 0.1 : 0.5, false, seed + 200)};
}

void compare_with_slow(const SlowMetrics& slow, const EvaluationResult& result) {
  std::int64_t column = 0;
  for (const MetricResult& each : result.metrics) {
    const Metric& metric = each.metric;
    SCOPED_TRACE(to_string(metric));
    if (!is_per_user(metric)) {
      EXPECT_NEAR(each.mean, static_cast<double>(slow.of_all(metric)), 1e-12);
      EXPECT_FALSE(each.standard_error.has_value());
      continue;
    }
    Real mean = 0;
    for (std::int64_t k = 0; k < result.users; ++k) {
      const int user = static_cast<int>(result.user_rows[k]);
      const Real wanted = metric.kind == MetricKind::auc
                              ? slow.auc(user)
                              : slow.of_list(metric.kind, slow.list(user, metric.at),
                                             SlowMetrics::set_of(slow.histories, user));
      ASSERT_NEAR(result.per_user(k, column), static_cast<double>(wanted), 1e-12) << "user " << user;
      mean += wanted / result.users;
    }
    EXPECT_NEAR(each.mean, static_cast<double>(mean), 1e-12);
    EXPECT_TRUE(each.standard_error.has_value());
    ++column;
  }
}

constexpr const char* beyond_metrics =
    "auc,popularity@1,popularity@7,tail-share@3,tail-share@500,novelty@5,diversity@1,diversity@6,"
    "diversity@90,calibration@2,calibration@12,coverage@3,coverage@80,gini@1,gini@10,entropy@4,entropy@300";

TEST(SlowBeyondAccuracy, AgreesOnRandomCases) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const SlowMetrics slow = random_slow_case(seed);
    const std::vector<std::int64_t> counts = column_counts(slow.train.view());
    const EvaluationResult result =
        evaluate(TableScorer(slow.table), slow.histories.view(), slow.targets.view(),
                 {counts, slow.train.view()}, {.metrics = parse_metrics(beyond_metrics)}, {.threads = 2});
    compare_with_slow(slow, result);
    if (HasFatalFailure()) return;
  }
}

/// So many targets that the scores are sorted instead of counted.
TEST(SlowBeyondAccuracy, AucOfManyTargets) {
  SlowMetrics slow{random_matrix<float>(3, 700, 1, 4), random_csr(5, 700, 0.1, true, 2),
                   random_csr(3, 700, 0.1, true, 3), random_csr(3, 700, 0.6, false, 4)};
  const EvaluationResult result = evaluate(TableScorer(slow.table), slow.histories.view(),
                                           slow.targets.view(), {}, {.metrics = parse_metrics("auc")}, {});
  compare_with_slow(slow, result);
}

TEST(SlowBeyondAccuracy, SameBitsOnAnyNumberOfThreads) {
  const SlowMetrics data{random_matrix<float>(700, 90, 1), random_csr(300, 90, 0.2, false, 5),
                         random_csr(700, 90, 0.1, false, 2), random_csr(700, 90, 0.05, false, 3)};
  const std::vector<std::int64_t> counts = column_counts(data.train.view());
  const auto run = [&](int threads) {
    return evaluate(TableScorer(data.table), data.histories.view(), data.targets.view(),
                    {counts, data.train.view()}, {.metrics = parse_metrics(beyond_metrics)},
                    {.threads = threads});
  };
  const EvaluationResult one = run(1);
  for (const int threads : {2, 5}) {
    const EvaluationResult many = run(threads);
    for (std::size_t m = 0; m < one.metrics.size(); ++m) {
      EXPECT_EQ(many.metrics[m].mean, one.metrics[m].mean);
      EXPECT_EQ(many.metrics[m].standard_error, one.metrics[m].standard_error);
    }
    for (std::int64_t u = 0; u < one.users; ++u)
      ASSERT_TRUE(std::ranges::equal(many.per_user.row(u), one.per_user.row(u))) << "user " << u;
  }
}

}  // namespace
}  // namespace poise
