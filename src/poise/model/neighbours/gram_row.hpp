#pragma once

#include <cstdint>
#include <vector>

#include "poise/linalg/large_pages.hpp"
#include "poise/model/neighbours/problem.hpp"

namespace poise {

/// One row of G = X' diag(a) X + beta F'F at a time, G_iv = sum over u in S_i of a_u X_uv and over features f
/// of beta F_fi F_fv, as a dense array of items, by their ranks, that is all zero between rows. T is
/// std::uint32_t where a = 1 and there are no features: counts, which are exact; otherwise double, added in
/// the order of the users, then of the features. A row costs the sum of |N_u| over the users of item i and of
/// |F_f| over its features, so all rows the sum of their squares; they are far cheaper to make again than to
/// keep.
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
    if (steps_ > static_cast<std::int64_t>(sums_.size())) {
      for (std::size_t rank = 0; rank < sums_.size(); ++rank) {
        if (sums_[rank] != T{}) body(problem_.by_rank[rank], sums_[rank]);
        sums_[rank] = T{};
      }
      return;
    }
    const auto visit = [&](std::int32_t rank) {
      if (sums_[rank] == T{}) return;
      body(problem_.by_rank[rank], sums_[rank]);
      sums_[rank] = T{};
    };
    for (const std::int32_t u : problem_.users_of.view().row(i)) {
      for (std::int64_t e = problem_.X.offsets[u]; e < problem_.X.offsets[u + 1]; ++e)
        visit(problem_.ranks[e]);
    }
    if (problem_.features.empty()) return;
    for (const std::int32_t f : problem_.features.of_items().row(i)) {
      for (const std::int32_t v : problem_.features.rows().row(f)) visit(problem_.rank_of[v]);
    }
  }

 private:
  /// Adds beta F'F_:i.
  void fill_features(std::int32_t i);

  const NeighbourProblem& problem_;
  std::vector<T, LargePages<T>> sums_;
  std::int64_t steps_ = 0;  // that the last row took
};

}  // namespace poise
