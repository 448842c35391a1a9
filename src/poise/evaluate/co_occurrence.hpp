#pragma once

#include <cstdint>
#include <vector>

#include "poise/linalg/csr.hpp"

namespace poise {

/// How alike two items are by who has them: the cosine of their columns of X, |S_i and S_j| / sqrt(|S_i|
/// |S_j|), from whole counts. Items with many users are kept as bits besides, at most 8 bytes for each entry
/// of X; a pair takes at most some m / 32 operations. Pairs of them are counted once and kept, as lists
/// share popular items: at most 32 MB. Several threads may ask at the same time.
class CoOccurrence {
 public:
  CoOccurrence(CsrView X, int threads);

  /// 0 where one of them has no user.
  [[nodiscard]] double cosine(std::int32_t i, std::int32_t j) const;

 private:
  [[nodiscard]] std::int64_t common(std::int32_t i, std::int32_t j) const;
  [[nodiscard]] std::int64_t common_of_many(std::int64_t a, std::int64_t b) const;
  [[nodiscard]] const std::uint64_t* bits(std::int32_t item) const {
    return place_[item] < 0 ? nullptr : bits_.data() + place_[item] * words_;
  }

  Csr users_;  ///< of each item
  std::int64_t words_ = 0;
  std::vector<std::int64_t> place_;  ///< among the items with bits; -1: none
  std::vector<std::uint64_t> bits_;
  mutable std::vector<std::int32_t> counted_;  ///< of pairs of places, a triangle; -1: not yet
};

}  // namespace poise
