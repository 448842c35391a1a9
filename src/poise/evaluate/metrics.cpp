#include "poise/evaluate/metrics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>

#include "poise/evaluate/metric_traits.hpp"
#include "poise/evaluate/user_ranking.hpp"

namespace poise {
namespace {

using Hits = std::span<const std::int64_t>;

/// What a formula reads: a user's ranking down to rank R, and the ranks of the targets there.
struct Top {
  const UserRanking& ranking;
  std::span<const std::int32_t> items;
  Hits hits;
  std::int64_t at;
  std::int64_t findable;  ///< min(R, targets)
  std::int64_t counted;   ///< the divisor of recall

  /// The mean of a figure over the listed items; 0 for an empty list.
  template <class Figure>
  [[nodiscard]] double mean(const Figure& of_item) const {
    double sum = 0;
    for (const std::int32_t item : items) sum += of_item(item);
    return items.empty() ? 0 : sum / static_cast<double>(items.size());
  }
};

double found(const Top& top) { return static_cast<double>(top.hits.size()); }

double recall(const Top& top) { return found(top) / static_cast<double>(top.counted); }

double precision(const Top& top) { return found(top) / static_cast<double>(top.at); }

double hit_rate(const Top& top) { return top.hits.empty() ? 0 : 1; }

double mrr(const Top& top) { return top.hits.empty() ? 0 : 1 / static_cast<double>(top.hits.front()); }

double discount(std::int64_t rank) { return 1 / std::log2(static_cast<double>(rank + 1)); }

double ndcg(const Top& top) {
  double gained = 0;
  for (const std::int64_t rank : top.hits) gained += discount(rank);
  double ideal = 0;
  for (std::int64_t rank = 1; rank <= top.findable; ++rank) ideal += discount(rank);
  return gained / ideal;
}

double average_precision(const Top& top) {
  double sum = 0;
  for (std::size_t h = 0; h < top.hits.size(); ++h)
    sum += static_cast<double>(h + 1) / static_cast<double>(top.hits[h]);
  return sum / static_cast<double>(top.findable);
}

double stratified_recall(const Top& top) {
  const auto weight = [&](std::int32_t item) { return top.ranking.facts->stratified_weight(item); };
  std::vector<double> found;
  for (const std::int64_t rank : top.hits) found.push_back(weight(top.items[rank - 1]));
  std::vector<double> ideal(top.ranking.targets.size());
  std::ranges::transform(top.ranking.targets, ideal.begin(), weight);
  // Both sums add the largest weights first, so that finding everything gives exactly 1.
  std::ranges::sort(found, std::greater<>());
  std::ranges::sort(ideal, std::greater<>());
  return std::accumulate(found.begin(), found.end(), 0.0) /
         std::accumulate(ideal.begin(), ideal.begin() + top.counted, 0.0);
}

double auc(const Top& top) { return area_under_curve(top.ranking); }

double popularity(const Top& top) {
  return top.mean([&](std::int32_t item) { return top.ranking.facts->users(item); });
}

double tail_share(const Top& top) {
  return top.mean(
      [&](std::int32_t item) { return top.ranking.facts->group(item) == PopularityGroup::tail ? 1 : 0; });
}

double novelty(const Top& top) {
  return top.mean([&](std::int32_t item) { return top.ranking.facts->information(item); });
}

double diversity(const Top& top) {
  const auto size = static_cast<double>(top.items.size());
  if (top.items.size() < 2) return 0;
  double alike = 0;
  for (std::size_t r = 1; r < top.items.size(); ++r) {
    for (std::size_t s = 0; s < r; ++s) alike += top.ranking.facts->similarity(top.items[r], top.items[s]);
  }
  return 1 - alike / (size * (size - 1) / 2);
}

/// Kullback-Leibler divergence, with the list's shares mixed with a hundredth of the history's, so that it is
/// finite.
double calibration(const Top& top) {
  constexpr double mixed = 0.01;
  const ItemFacts& facts = *top.ranking.facts;
  const auto shares_of = [&](std::span<const std::int32_t> items) {
    GroupShares shares = {};
    for (const std::int32_t item : items)
      shares[static_cast<int>(facts.group(item))] += 1 / static_cast<double>(items.size());
    return shares;
  };
  const std::span<const std::int32_t> history = top.ranking.history;
  const GroupShares wanted = history.empty() ? facts.group_shares() : shares_of(history);
  const GroupShares listed = shares_of(top.items);
  double divergence = 0;
  for (std::size_t g = 0; g < wanted.size(); ++g) {
    if (wanted[g] > 0)
      divergence += wanted[g] * std::log(wanted[g] / ((1 - mixed) * listed[g] + mixed * wanted[g]));
  }
  // Equal shares give 0 up to rounding.
  return std::max(0.0, divergence);
}

using Shown = std::span<const std::int64_t>;

double coverage(Shown shown) {
  const auto covered = std::ranges::count_if(shown, [](std::int64_t times) { return times > 0; });
  return static_cast<double>(covered) / static_cast<double>(shown.size());
}

double gini(Shown shown) {
  std::vector<std::int64_t> ascending(shown.begin(), shown.end());
  std::ranges::sort(ascending);
  const auto items = static_cast<double>(ascending.size());
  double all = 0;
  double sum = 0;
  for (std::size_t j = 0; j < ascending.size(); ++j) {
    const auto times = static_cast<double>(ascending[j]);
    all += times;
    sum += (2 * static_cast<double>(j + 1) - items - 1) * times;
  }
  return all > 0 ? sum / (items * all) : 0;
}

double entropy(Shown shown) {
  const auto all = static_cast<double>(std::accumulate(shown.begin(), shown.end(), std::int64_t{0}));
  double sum = 0;
  for (const std::int64_t times : shown) {
    const double share = static_cast<double>(times) / all;
    if (times > 0) sum -= share * std::log2(share);
  }
  return sum;
}

/// A metric's declaration; one of the two formulas is null.
struct Declaration {
  MetricTraits traits;
  double (*of_user)(const Top& top) = nullptr;
  double (*of_all)(Shown shown) = nullptr;
};

using Aim = MetricTraits::Aim;

/// In the order of MetricKind.
constexpr Declaration declarations[] = {{{"recall"}, recall},
                                        {{"ndcg"}, ndcg},
                                        {{"precision"}, precision},
                                        {{"map"}, average_precision},
                                        {{"hit-rate"}, hit_rate},
                                        {{"mrr"}, mrr},
                                        {{"stratified-recall", TrainingNeed::counts}, stratified_recall},
                                        {{"auc", TrainingNeed::nothing, Aim::high, false}, auc},
                                        {{"popularity", TrainingNeed::counts}, popularity},
                                        {{"tail-share", TrainingNeed::counts}, tail_share},
                                        {{"novelty", TrainingNeed::rows}, novelty},
                                        {{"diversity", TrainingNeed::rows}, diversity},
                                        {{"calibration", TrainingNeed::counts, Aim::low}, calibration},
                                        {{"coverage", TrainingNeed::nothing, Aim::of_all}, nullptr, coverage},
                                        {{"gini", TrainingNeed::nothing, Aim::of_all}, nullptr, gini},
                                        {{"entropy", TrainingNeed::nothing, Aim::of_all}, nullptr, entropy}};

const Declaration& declaration_of(MetricKind kind) { return declarations[static_cast<int>(kind)]; }

}  // namespace

std::vector<std::string_view> metric_names() {
  std::vector<std::string_view> names;
  for (const Declaration& metric : declarations) names.push_back(metric.traits.name);
  return names;
}

const MetricTraits& traits_of(MetricKind kind) { return declaration_of(kind).traits; }

std::vector<std::int64_t> hit_ranks(const UserRanking& ranking) {
  std::vector<std::int64_t> ranks;
  for (std::size_t r = 0; r < ranking.items.size(); ++r) {
    if (std::ranges::binary_search(ranking.targets, ranking.items[r]))
      ranks.push_back(static_cast<std::int64_t>(r + 1));
  }
  return ranks;
}

double measure(const Metric& metric, RecallDenominator denominator, const UserRanking& ranking, Hits hits) {
  assert(!ranking.targets.empty() && is_per_user(metric));
  const auto targets = static_cast<std::int64_t>(ranking.targets.size());
  const std::int64_t findable = std::min(metric.at, targets);
  const auto below = std::ranges::upper_bound(hits, metric.at);
  return declaration_of(metric.kind)
      .of_user({.ranking = ranking,
                .items = ranking.items.first(std::min<std::size_t>(metric.at, ranking.items.size())),
                .hits = hits.first(below - hits.begin()),
                .at = metric.at,
                .findable = findable,
                .counted = denominator == RecallDenominator::min ? findable : targets});
}

double measure_all(const Metric& metric, Shown shown) { return declaration_of(metric.kind).of_all(shown); }

}  // namespace poise
