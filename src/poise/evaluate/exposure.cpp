#include "poise/evaluate/exposure.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

namespace poise {

Exposure::Exposure(std::vector<std::int64_t> cutoffs, std::int64_t items)
    : items_(items), cutoffs_(std::move(cutoffs)) {
  std::ranges::sort(cutoffs_);
  cutoffs_.erase(std::unique(cutoffs_.begin(), cutoffs_.end()), cutoffs_.end());
  counts_.assign(std::ssize(cutoffs_) * items, 0);
}

void Exposure::add(std::span<const std::int32_t> list) {
  std::size_t rank = 0;
  for (std::size_t c = 0; c < cutoffs_.size(); ++c) {
    std::int64_t* const counts = counts_.data() + static_cast<std::int64_t>(c) * items_;
    for (; rank < list.size() && static_cast<std::int64_t>(rank) < cutoffs_[c]; ++rank)
      std::atomic_ref(counts[list[rank]]).fetch_add(1, std::memory_order_relaxed);
  }
}

std::vector<std::int64_t> Exposure::shown(std::int64_t cutoff) const {
  std::vector<std::int64_t> shown(items_, 0);
  for (std::size_t c = 0; c < cutoffs_.size() && cutoffs_[c] <= cutoff; ++c) {
    const std::int64_t* const counts = counts_.data() + static_cast<std::int64_t>(c) * items_;
    for (std::int64_t i = 0; i < items_; ++i) shown[i] += counts[i];
  }
  return shown;
}

void Exposure::add_counts(std::span<const std::int64_t> counts) {
  assert(counts.size() == counts_.size());
  for (std::size_t k = 0; k < counts.size(); ++k) counts_[k] += counts[k];
}

}  // namespace poise
