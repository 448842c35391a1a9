#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/model/scorer.hpp"

namespace poise {

/// Re-ranks lists by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): one after the other it
/// takes the candidate with the largest
///
///     (1 - L) relevance(i)  -  L max over taken j of likeness(i, j),
///
/// ties to the better ranked one. Candidates are the pool() best of a user. Relevance is the score, moved and
/// scaled to 0 for the worst candidate and 1 for the best; likeness is the mean of both directions of
/// Scorer::similarities, 0 where that is negative, as a share of the largest among the candidates. With P
/// candidates P^2 similarities and P operations for each place of the list.
class Diversifier {
 public:
  /// For lists of `width` items. Error{usage} as recommend() says.
  Diversifier(const Scorer& scorer, double L, std::int64_t width);

  /// How many of the best items to rank: `width`, and with L > 0 five times as many, but at least 100 and at
  /// most 1000.
  [[nodiscard]] std::int64_t pool() const;

  /// The places, in order, of up to `width` of these items, which are given best first.
  [[nodiscard]] std::vector<std::int32_t> order(std::span<const std::int32_t> items,
                                                std::span<const float> scores) const;

 private:
  [[nodiscard]] Matrix<float> likeness(std::span<const std::int32_t> items) const;

  const Scorer& scorer_;
  double L_;
  std::int64_t width_;
};

}  // namespace poise
