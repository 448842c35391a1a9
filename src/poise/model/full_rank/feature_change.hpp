#pragma once

#include <cstdint>
#include <span>

#include "poise/backend/backend.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/model/full_rank/row_change.hpp"

namespace poise {

/// Which rows stand for a change of beta F'F.
enum class FeatureRowsOf {
  features,  ///< each feature's row after and before: exact in float32
  items,     ///< two rows for each item, which round its products with others to float32
  fewer      ///< whichever are fewer
};

/// Adds to a change what beta F'F changes by when items that had no features get some: `before` and `after`
/// are F, of whom only the columns of these items differ, and `after` may have further ones. With M = F'F
/// after less F'F before, either
///
///     beta M = sum over their features f of beta (f f' after - f f' before),   or
///     beta M = sum over these items i of beta / 2 (p_i p_i' - q_i q_i'),   p_i, q_i = g_i e_i +- v_i / g_i,
///
/// v_i column i of M, halved in the rows of these items, and g_i the power of two near |F_:i|.
void add_feature_change(CsrView before, CsrView after, double beta, std::span<const std::int32_t> described,
                        FeatureRowsOf rows, RowChange& change);

/// r_s -= P' diag(t) P h_s for each row of h. 4 entries(P) operations a row.
template <class T>
void subtract_feature_terms(const RowChange& change, In<T> h, Out<T> r, Backend& backend, int threads);

extern template void subtract_feature_terms<float>(const RowChange&, In<float>, Out<float>, Backend&, int);
extern template void subtract_feature_terms<double>(const RowChange&, In<double>, Out<double>, Backend&, int);

}  // namespace poise
