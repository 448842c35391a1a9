#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/evaluate/item_facts.hpp"
#include "poise/evaluate/metrics.hpp"

namespace poise {

/// One user's ranking: the input of a metric.
struct UserRanking {
  std::span<const std::int32_t> items;         ///< best first
  std::span<const std::int32_t> targets;       ///< ascending, at least one
  std::span<const std::int32_t> history = {};  ///< ascending
  std::span<const std::int32_t> known = {};  ///< what is not ranked: the history, what the user dislikes, and
                                             ///< with cold items all others; ascending; for auc
  std::span<const float> scores = {};        ///< of every item; for auc alone
  const ItemFacts* facts = nullptr;          ///< where the metric needs the training data
};

/// The ranks, from 1, of the targets in the list.
std::vector<std::int64_t> hit_ranks(const UserRanking& ranking);

/// One user's value of a metric; `hits` are hit_ranks() of the ranking.
double measure(const Metric& metric, RecallDenominator denominator, const UserRanking& ranking,
               std::span<const std::int64_t> hits);

/// A metric that is one number for all users, from how often each item is in the top `at` of their lists.
double measure_all(const Metric& metric, std::span<const std::int64_t> shown);

/// The share of pairs of a target and another candidate that the scores order right; see docs/metrics.md.
double area_under_curve(const UserRanking& ranking);

}  // namespace poise
