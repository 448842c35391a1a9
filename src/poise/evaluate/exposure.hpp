#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace poise {

/// How often each item is in the top R of the users' lists, for several R. Whole numbers, so that threads and
/// processes may add in any order.
class Exposure {
 public:
  /// For these R, in any order; none: nothing is counted.
  Exposure(std::vector<std::int64_t> cutoffs, std::int64_t items);

  /// Several threads may add at the same time.
  void add(std::span<const std::int32_t> list);
  /// For one of the cutoffs.
  [[nodiscard]] std::vector<std::int64_t> shown(std::int64_t cutoff) const;

  /// All counts, as a message to another process of the job, which adds them to its own.
  [[nodiscard]] const std::vector<std::int64_t>& counts() const { return counts_; }
  void add_counts(std::span<const std::int64_t> counts);

 private:
  std::int64_t items_;
  std::vector<std::int64_t> cutoffs_;  ///< ascending
  std::vector<std::int64_t> counts_;   ///< cutoffs x items: ranks up to a cutoff and beyond the one before
};

}  // namespace poise
