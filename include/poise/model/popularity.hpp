#pragma once

#include <vector>

#include "poise/model/scorer.hpp"

namespace poise {

/// The baseline: an item's score is the number of its training users, |S_i|, whatever the history.
class Popularity : public Scorer {
 public:
  /// From the training matrix X (m x n). O(nnz).
  static Popularity train(CsrView X);
  explicit Popularity(std::vector<float> counts) : counts_(std::move(counts)) {}

  [[nodiscard]] const std::vector<float>& counts() const { return counts_; }
  [[nodiscard]] std::int64_t items() const override { return static_cast<std::int64_t>(counts_.size()); }
  [[nodiscard]] ScoreRows on(Backend& backend, const Execution& execution) const override;
  /// Both are an Error{usage}: no history item adds anything, and no item is nearer to another.
  [[nodiscard]] std::vector<double> contributions(std::span<const std::int32_t> history,
                                                  std::span<const float> values,
                                                  std::span<const std::int32_t> disliked,
                                                  std::int32_t item) const override;
  void similarity(std::int32_t item, std::span<float> scores) const override;

 private:
  std::vector<float> counts_;
};

}  // namespace poise
