#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/large_pages.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/solver/feature_rows.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// Full rank with at most k entries in each column of B: column j is a ridge regression on its support S (j
/// itself is not in S where the diagonal is zero),
///
///     H_SS beta = c_S,   H_SS = b_j (G_SS + sum over u in supp C_:j of a_u C_uj x_u[S] x_u[S]') + Lambda_SS,
///     c_S = b_j (G_Sj + sum over u in S_j of a_u C_uj x_u[S]),
///
/// G = X' diag(a) X + beta F'F, where features F of items are further rows of X (solver/feature_rows.hpp).
///
/// Nothing of items x items is ever held. X and W must outlive it.
struct NeighbourProblem {
  CsrView X;
  const Weights* W = nullptr;
  std::vector<double> l;  ///< Lambda's diagonal
  bool zero_diagonal = false;
  double b_bar = 1;                   ///< the geometric mean of b
  Csr users_of;                       ///< X', with C's values where C has the entries of X
  Csr other_weights;                  ///< C' where it has other entries
  bool C_on_X = false;                ///< whether C has the entries of X, and no others
  std::vector<std::int32_t> by_rank;  ///< items, those with the most users first
  std::vector<std::int32_t> rank_of;  ///< the place of each item there
  /// The items of X's entries by their ranks: what most entries count into is a short array.
  std::vector<std::int32_t, LargePages<std::int32_t>> ranks;
  FeatureRows features = {};
  std::vector<double> of_features = {};  ///< beta |F_:i|^2; empty without features

  [[nodiscard]] std::int64_t items() const { return X.cols; }
  /// How many entries a column can have.
  [[nodiscard]] std::int64_t most_neighbours() const { return X.cols - (zero_diagonal ? 1 : 0); }
  /// C_:j as a list of users with values; empty where C = 0.
  [[nodiscard]] CsrView weights() const {
    if (W->c.empty()) return {};
    return C_on_X ? users_of.view() : other_weights.view();
  }
  /// Whether G is made of counts alone.
  [[nodiscard]] bool counts_alone() const { return W->a.empty() && features.empty(); }
  /// The diagonal of G.
  [[nodiscard]] std::vector<double> diagonal(int threads = 1) const;
  /// Entries of X and of F: what a product with G goes through.
  [[nodiscard]] std::int64_t entries() const { return X.entries() + features.rows().entries(); }
  [[nodiscard]] bool has_weights() const { return !W->c.empty(); }
  [[nodiscard]] bool has_entry(std::int64_t user, std::int32_t item) const;
};

NeighbourProblem make_neighbour_problem(CsrView X, const Weights& W, const FullRankOptions& options,
                                        int threads);

/// Columns of a B with k entries each: row j of `items` is the support of column j, the best neighbour first,
/// and `values` are its entries of B. The first k' of each row are the support of the model with k'
/// neighbours, with other values.
struct NeighbourColumns {
  std::int64_t count = 0;
  std::int64_t k = 0;
  std::vector<std::int32_t> items;  ///< count x k
  std::vector<float> values;        ///< count x k

  [[nodiscard]] std::span<const std::int32_t> support(std::int64_t j) const {
    return std::span(items).subspan(j * k, k);
  }
  [[nodiscard]] std::span<const float> entries(std::int64_t j) const {
    return std::span(values).subspan(j * k, k);
  }
};

/// B by rows, without zeros. O(entries), 8 bytes an entry beyond the columns.
Csr rows_of(const NeighbourColumns& columns);

}  // namespace poise
