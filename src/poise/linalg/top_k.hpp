#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace poise {

/// Which items of a row may be ranked. Both lists are ascending.
struct Candidates {
  std::span<const std::int32_t> excluded = {};
  std::optional<std::span<const std::int32_t>> only = std::nullopt;  ///< absent: every item
};

/// Finds the min(items.size(), candidates) best of one row of scores, ordered by score descending, then index
/// ascending, and returns their number; the rest of `items` and `top_scores` (of the same size) is unchanged.
/// A score of -inf is ranked last like any other number. A NaN among the scores (of `only`, if given) is
/// Error{numerical}.
///
/// One pass over the scores, comparing each with the k-th best so far, plus O(k log(n / k)) selection steps
/// for scores in random order (O(n) if they ascend), and a sort of k.
std::int64_t top_k(std::span<const float> scores, const Candidates& candidates, std::span<std::int32_t> items,
                   std::span<float> top_scores);

}  // namespace poise
