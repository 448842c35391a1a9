#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/model/scorer.hpp"

namespace poise {

/// What one item of a history adds to a score.
struct Contribution {
  std::int32_t item = 0;
  double contribution = 0;
  bool operator==(const Contribution&) const = default;
};

/// Why `item` has its score for a history of distinct items: what each history item adds, largest first
/// (ties: lower index). The contributions add up to the score, up to the rounding of float32 relative to the
/// sum of their sizes. Disliked items are among them where each counts -`dislike_share`. Error{usage} for a
/// model whose scores are no such sum, Error{input} for an item that the model does not know.
std::vector<Contribution> explain(const Scorer& scorer, std::span<const std::int32_t> history,
                                  std::span<const float> values, std::int32_t item,
                                  std::span<const std::int32_t> disliked = {}, double dislike_share = 0);

}  // namespace poise
