#include "poise/linalg/top_k.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <functional>
#include <vector>

#include "poise/base/error.hpp"

namespace poise {
namespace {

constexpr std::int64_t group_size = 8;

/// Score and index as one integer that is larger for the better candidate: selecting among integers is far
/// cheaper than among pairs. Adding 0 turns -0 into 0, so that both tie.
std::uint64_t to_key(float score, std::int64_t item) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);
  const std::uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  return (std::uint64_t{ordered} << 32) | (0xFFFFFFFFU - static_cast<std::uint32_t>(item));
}

std::int32_t item_of(std::uint64_t key) {
  return static_cast<std::int32_t>(0xFFFFFFFFU - static_cast<std::uint32_t>(key));
}

/// Whether any score of a group is above the threshold or NaN. It has no branch, so that it vectorizes.
bool any_above(const float* scores, float threshold) {
  int any = 0;
#pragma omp simd reduction(| : any)
  for (std::int64_t i = 0; i < group_size; ++i) any |= static_cast<int>(!(scores[i] <= threshold));
  return any != 0;
}

/// Moves the k largest of distinct keys to the front and the k-th largest to index k - 1, like
/// std::nth_element, but partitions without branches: they are unpredictable and took a quarter of the whole
/// selection.
void bring_best_to_front(std::span<std::uint64_t> keys, std::int64_t k) {
  std::int64_t first = 0;
  auto last = static_cast<std::int64_t>(keys.size());
  // Bounds the rounds: the worst case is left to std::nth_element.
  for (int round = 0; round < 32 && last - first > 16; ++round) {
    const std::uint64_t a = keys[first];
    const std::uint64_t b = keys[(first + last) / 2];
    const std::uint64_t c = keys[last - 1];
    const std::uint64_t median = std::max(std::min(a, b), std::min(std::max(a, b), c));
    std::int64_t above = first;
    for (std::int64_t i = first; i < last; ++i) {
      const std::uint64_t key = keys[i];
      keys[i] = keys[above];
      keys[above] = key;
      above += static_cast<std::int64_t>(key >= median);
    }
    (above >= k ? last : first) = above;
  }
  std::nth_element(keys.begin() + first, keys.begin() + (k - 1), keys.begin() + last, std::greater<>());
}

/// The k best candidates of one row, given in ascending order of their index. Possible ones are collected in
/// a buffer, which is reduced to the best k when it is full.
class Selection {
 public:
  Selection(std::span<const float> scores, std::span<const std::int32_t> excluded, std::int64_t k)
      : scores_(scores), excluded_(excluded), k_(k), keys_(2 * k + 4 * group_size) {}

  void offer(std::int64_t first, std::int64_t count) {
    bool unordered = false;
    // It cannot be predicted which scores are above the threshold: write all, advance past some. The local
    // copies stay in registers; the compiler cannot keep members there.
    const float* const scores = scores_.data();
    std::uint64_t* const keys = keys_.data();
    const float threshold = threshold_;
    const bool all = !has_threshold_;
    std::int64_t size = size_;
    for (std::int64_t item = first; item < first + count; ++item) {
      keys[size] = to_key(scores[item], item);
      size += static_cast<std::int64_t>(all | (scores[item] > threshold));
      unordered |= std::isnan(scores[item]);
    }
    size_ = size;
    if (unordered) refuse_nan(first);
    if (size_ + group_size > static_cast<std::int64_t>(keys_.size())) tighten();
  }

  void scan() {
    const auto count = static_cast<std::int64_t>(scores_.size());
    for (std::int64_t item = 0; item < count; item += group_size) {
      if (item + group_size > count) {
        offer(item, count - item);
      } else if (!has_threshold_ || any_above(scores_.data() + item, threshold_)) {
        offer(item, group_size);
      }
    }
  }

  std::int64_t finish(std::span<std::int32_t> items, std::span<float> top_scores) {
    tighten();
    std::sort(keys_.begin(), keys_.begin() + size_, std::greater<>());
    for (std::int64_t r = 0; r < size_; ++r) {
      items[r] = item_of(keys_[r]);
      top_scores[r] = scores_[items[r]];
    }
    return size_;
  }

 private:
  void tighten() {
    drop_excluded();
    if (size_ <= k_) return;
    bring_best_to_front(std::span(keys_).first(size_), k_);
    size_ = k_;
    settled_ = k_;
    // A later candidate with the same score has a higher index, so it is not among the k best.
    threshold_ = scores_[item_of(keys_[k_ - 1])];
    has_threshold_ = true;
  }

  /// Candidates added since the last call are still in ascending order.
  void drop_excluded() {
    std::int64_t kept = settled_;
    for (std::int64_t c = settled_; c < size_; ++c) {
      const std::int32_t item = item_of(keys_[c]);
      while (next_excluded_ < excluded_.size() && excluded_[next_excluded_] < item) ++next_excluded_;
      const bool excluded = next_excluded_ < excluded_.size() && excluded_[next_excluded_] == item;
      keys_[kept] = keys_[c];
      kept += static_cast<std::int64_t>(!excluded);
    }
    size_ = kept;
    settled_ = kept;
  }

  [[noreturn]] void refuse_nan(std::int64_t item) const {
    while (!std::isnan(scores_[item])) ++item;
    fail(ErrorKind::numerical, "the score of item number {} is not a number: the model is not usable", item);
  }

  std::span<const float> scores_;
  std::span<const std::int32_t> excluded_;
  std::int64_t k_;
  std::vector<std::uint64_t> keys_;
  std::int64_t size_ = 0;
  std::int64_t settled_ = 0;  // the first keys, known not to be excluded
  std::size_t next_excluded_ = 0;
  float threshold_ = 0;
  bool has_threshold_ = false;
};

}  // namespace

std::int64_t top_k(std::span<const float> scores, const Candidates& candidates, std::span<std::int32_t> items,
                   std::span<float> top_scores) {
  assert(items.size() == top_scores.size());
  const auto k = std::min<std::int64_t>(items.size(), scores.size());
  if (k == 0) return 0;
  Selection selection(scores, candidates.excluded, k);
  if (candidates.only) {
    for (const std::int32_t item : *candidates.only) selection.offer(item, 1);
  } else {
    selection.scan();
  }
  return selection.finish(items, top_scores);
}

}  // namespace poise
