#include "poise/evaluate/item_facts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "poise/base/error.hpp"

namespace poise {
namespace {

bool asks_for(std::span<const Metric> metrics, MetricKind kind) {
  return std::ranges::any_of(metrics, [&](const Metric& metric) { return metric.kind == kind; });
}

void check(std::int64_t items, const TrainingView& training, std::span<const Metric> metrics) {
  for (const Metric& metric : metrics) {
    const TrainingNeed need = training_need(std::span(&metric, 1));
    if (need != TrainingNeed::nothing && std::ssize(training.counts) != items) {
      fail(ErrorKind::input, "{} needs the training count of each of the {} items but got {}",
           to_string(metric), items, training.counts.size());
    }
    if (need == TrainingNeed::rows && (training.rows.rows == 0 || training.rows.cols != items)) {
      fail(ErrorKind::input, "{} needs the training matrix, users x {} items", to_string(metric), items);
    }
  }
}

}  // namespace

ItemFacts::ItemFacts(std::int64_t items, const TrainingView& training, std::span<const Metric> metrics,
                     int threads)
    : items_(items) {
  check(items, training, metrics);
  if (training_need(metrics) == TrainingNeed::nothing) return;
  counts_.assign(training.counts.begin(), training.counts.end());
  const auto users = static_cast<double>(training.rows.rows);
  for (const std::int64_t count : counts_) {
    const auto known = static_cast<double>(std::max<std::int64_t>(1, count));
    weights_.push_back(1 / std::sqrt(known));
    information_.push_back(std::log2(users / known));
  }
  make_groups();
  if (asks_for(metrics, MetricKind::diversity)) alike_.emplace(training.rows, threads);
}

/// Items of equal counts are of one group: the head begins at the largest count at which it has a fifth, the
/// tail ends at the largest at which it has at most a fifth. They cannot meet.
void ItemFacts::make_groups() {
  std::vector<std::int64_t> ascending = counts_;
  std::ranges::sort(ascending);
  const std::int64_t all = std::accumulate(ascending.begin(), ascending.end(), std::int64_t{0});
  groups_.assign(counts_.size(), PopularityGroup::tail);
  if (all == 0) return;
  std::int64_t tail_most = 0;
  std::int64_t below = 0;
  for (std::size_t k = 0; k < ascending.size(); ++k) {
    below += ascending[k];
    const bool last_of_count = k + 1 == ascending.size() || ascending[k + 1] != ascending[k];
    if (last_of_count && 5 * below <= all) tail_most = ascending[k];
  }
  std::int64_t above = 0;
  std::int64_t head_least = 0;
  for (auto count = ascending.rbegin(); count != ascending.rend() && 5 * above < all; ++count) {
    above += *count;
    head_least = *count;
  }
  std::array<std::int64_t, 3> interactions = {};
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    groups_[i] = counts_[i] >= head_least  ? PopularityGroup::head
                 : counts_[i] <= tail_most ? PopularityGroup::tail
                                           : PopularityGroup::middle;
    interactions[static_cast<int>(groups_[i])] += counts_[i];
  }
  for (std::size_t g = 0; g < interactions.size(); ++g)
    group_shares_[g] = static_cast<double>(interactions[g]) / static_cast<double>(all);
}

}  // namespace poise
