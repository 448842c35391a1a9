#include "poise/recommend/top_k.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "poise/base/error.hpp"

namespace poise {
namespace {

constexpr std::int64_t group_size = 16;

/// Score and index as one integer that is larger for the better candidate: the order of integers is far
/// cheaper to select by than that of pairs. Adding 0 makes -0 and 0 the tie that they are as numbers.
std::uint64_t to_key(float score, std::int64_t item) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);
  const std::uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  return (std::uint64_t{ordered} << 32) | (0xFFFFFFFFU - static_cast<std::uint32_t>(item));
}

std::int32_t item_of(std::uint64_t key) {
  return static_cast<std::int32_t>(0xFFFFFFFFU - static_cast<std::uint32_t>(key));
}

/// Whether any score of a group is above the threshold or NaN. No branch inside, so that it vectorizes.
bool any_above(const float* scores, float threshold) {
  int any = 0;
  for (std::int64_t i = 0; i < group_size; ++i) any |= static_cast<int>(!(scores[i] <= threshold));
  return any != 0;
}

/// The k best of a stream of candidates in ascending index order.
class Selection {
 public:
  explicit Selection(std::int64_t k) : k_(k), capacity_(2 * k + group_size) { keys_.reserve(capacity_); }

  /// Once known, no later candidate at or below this score can be among the k best: its index is higher.
  [[nodiscard]] bool has_threshold() const { return has_threshold_; }
  [[nodiscard]] float threshold() const { return threshold_; }

  void add(float score, std::int64_t item, std::span<const float> scores) {
    keys_.push_back(to_key(score, item));
    if (static_cast<std::int64_t>(keys_.size()) < capacity_) return;
    std::nth_element(keys_.begin(), keys_.begin() + (k_ - 1), keys_.end(), std::greater<>());
    keys_.resize(k_);
    threshold_ = scores[item_of(keys_.back())];
    has_threshold_ = true;
  }

  std::int64_t finish(std::span<const float> scores, std::span<std::int32_t> items,
                      std::span<float> top_scores) {
    const auto count = std::min<std::int64_t>(k_, keys_.size());
    std::partial_sort(keys_.begin(), keys_.begin() + count, keys_.end(), std::greater<>());
    for (std::int64_t r = 0; r < count; ++r) {
      items[r] = item_of(keys_[r]);
      top_scores[r] = scores[items[r]];
    }
    return count;
  }

 private:
  std::int64_t k_;
  std::int64_t capacity_;
  std::vector<std::uint64_t> keys_;
  float threshold_ = -std::numeric_limits<float>::infinity();
  bool has_threshold_ = false;
};

/// Offers single items, in ascending order, to a selection.
class Gate {
 public:
  Gate(std::span<const float> scores, std::span<const std::int32_t> excluded, Selection& selection)
      : scores_(scores), excluded_(excluded), selection_(selection) {}

  void offer(std::int64_t item) {
    const float score = scores_[item];
    if (score <= selection_.threshold() && selection_.has_threshold()) return;
    if (std::isnan(score)) {
      fail(ErrorKind::numerical, "the score of item number {} is not a number: the model is not usable",
           item);
    }
    while (next_ < excluded_.size() && excluded_[next_] < item) ++next_;
    if (next_ < excluded_.size() && excluded_[next_] == item) return;
    selection_.add(score, item, scores_);
  }

 private:
  std::span<const float> scores_;
  std::span<const std::int32_t> excluded_;
  Selection& selection_;
  std::size_t next_ = 0;  // the first excluded item not below the last one offered
};

}  // namespace

std::int64_t top_k(std::span<const float> scores, const Candidates& candidates, std::span<std::int32_t> items,
                   std::span<float> top_scores) {
  assert(items.size() == top_scores.size());
  const auto count = static_cast<std::int64_t>(scores.size());
  const auto k = std::min<std::int64_t>(items.size(), count);
  if (k == 0) return 0;
  Selection selection(k);
  Gate gate(scores, candidates.excluded, selection);
  if (candidates.only) {
    for (const std::int32_t item : *candidates.only) gate.offer(item);
    return selection.finish(scores, items, top_scores);
  }
  std::int64_t item = 0;
  while (item < count && !selection.has_threshold()) gate.offer(item++);
  for (; item + group_size <= count; item += group_size) {
    if (!any_above(scores.data() + item, selection.threshold())) continue;
    for (std::int64_t i = item; i < item + group_size; ++i) gate.offer(i);
  }
  while (item < count) gate.offer(item++);
  return selection.finish(scores, items, top_scores);
}

}  // namespace poise
