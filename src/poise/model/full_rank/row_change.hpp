#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// Users whose rows of X changed, as terms of the columns' systems:
///
///     H_i / b_i changes by F' diag(s o (1 + C_:i)) F + P' diag(t) P,      A by F' diag(s) F + P' diag(t) P,
///
/// F the new versions of the rows with s = a_u, then the old ones with s = -a_u; P rows of numbers, by which
/// features that items got change it (full_rank/feature_change.hpp).
struct RowChange {
  Csr rows;                               ///< F; its values are C_ui, 0 off its entries; none: C = 0
  std::vector<double> sign;               ///< s
  Csr features = {};                      ///< P, with values; no rows: no features change
  std::vector<double> feature_sign = {};  ///< t

  [[nodiscard]] std::int64_t rank() const { return rows.rows + features.rows; }
  /// Adds sign e_i e_i'.
  void add_diagonal(std::int32_t item, double s);
};

/// What a change is made of: rows of A alone, or of the columns' systems, whose weights may differ too.
enum class ChangeOf { shared_system, columns };

/// The change from X to Y, whose first rows and columns are X's: `changed` are the users of X whose row
/// differs, and Y's further rows are new users. Users whose terms cancel are left out.
RowChange row_change(CsrView X, const Weights& before, CsrView Y, const Weights& after,
                     std::span<const std::int32_t> changed, ChangeOf of);

/// A^-1 <- (A + F' diag(s) F)^-1, F all rows of the change, by the identity
///
///     (A + F' S F)^-1 = A^-1 - A^-1 F' (S^-1 + F A^-1 F')^-1 F A^-1,
///
/// for some hundred rows of F at a time, those with s > 0 first, so that every A between is positive definite
/// too. The middle matrix, indefinite where old versions are among them, in float64. About 2 n^2 rank
/// operations of a matrix product, half of them where the matrix lies in ordinary memory. Error{interrupted}
/// leaves it unspecified.
template <class T>
void update_inverse(Resident<T>& A_inverse, const RowChange& change, Backend& backend,
                    const Execution& execution);

/// The operations of update_inverse.
double update_operations(std::int64_t items, std::int64_t rank);

/// -F' diag(s o (1 + C_:i)) F h_i for each item: the residual e_i - (H_i / b_i) h_i that the change of users
/// makes of 0; that of features is subtract_feature_terms().
template <class T>
void changed_residual(const RowChange& change, std::span<const std::int32_t> items, In<T> h, Out<T> r,
                      Backend& backend);

extern template void update_inverse<float>(Resident<float>&, const RowChange&, Backend&, const Execution&);
extern template void update_inverse<double>(Resident<double>&, const RowChange&, Backend&, const Execution&);
extern template void changed_residual<float>(const RowChange&, std::span<const std::int32_t>, In<float>,
                                             Out<float>, Backend&);
extern template void changed_residual<double>(const RowChange&, std::span<const std::int32_t>, In<double>,
                                              Out<double>, Backend&);

}  // namespace poise
