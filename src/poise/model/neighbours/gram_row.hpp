#pragma once

#include <cstdint>
#include <vector>

#include "poise/linalg/large_pages.hpp"
#include "poise/model/neighbours/problem.hpp"

namespace poise {

/// One row of G = X' diag(a) X at a time, G_iv = sum over u in S_i of a_u X_uv, as a dense array of items, by
/// their ranks, that is all zero between rows. T is std::uint32_t where a = 1: counts, which are exact;
/// otherwise double, added in the order of the users. A row costs the sum of |N_u| over the users of item i,
/// so all rows the sum of |N_u|^2; they are far cheaper to make again than to keep.
template <class T>
class GramRow {
 public:
  explicit GramRow(const NeighbourProblem& problem) : problem_(problem), sums_(problem.items(), T{}) {}

  /// Makes row i. The array must be clear.
  void fill(std::int32_t i);
  /// G_iv at the rank of v.
  [[nodiscard]] const T* data() const { return sums_.data(); }
  /// Makes the array clear again after fill(i).
  void clear(std::int32_t i) {
    drain(i, [](std::int32_t /*item*/, T /*sum*/) {});
  }
  /// body(v, G_iv) for all v with G_iv != 0, in no particular order, after fill(i). Leaves the array clear.
  template <class Body>
  void drain(std::int32_t i, const Body& body) {
    const auto users = problem_.users_of.view().row(i);
    if (steps_ > static_cast<std::int64_t>(sums_.size())) {
      for (std::size_t rank = 0; rank < sums_.size(); ++rank) {
        if (sums_[rank] != T{}) body(problem_.by_rank[rank], sums_[rank]);
        sums_[rank] = T{};
      }
      return;
    }
    for (const std::int32_t u : users) {
      for (std::int64_t e = problem_.X.offsets[u]; e < problem_.X.offsets[u + 1]; ++e) {
        const std::int32_t rank = problem_.ranks[e];
        if (sums_[rank] == T{}) continue;
        body(problem_.by_rank[rank], sums_[rank]);
        sums_[rank] = T{};
      }
    }
  }

 private:
  const NeighbourProblem& problem_;
  std::vector<T, LargePages<T>> sums_;
  std::int64_t steps_ = 0;  // that the last row took
};

}  // namespace poise
