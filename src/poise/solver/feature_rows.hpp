#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// The k-th stored entry of a row.
inline double value_of(CsrView matrix, std::int64_t row, std::size_t k) {
  return matrix.values.empty() ? 1.0 : static_cast<double>(matrix.row_values(row)[k]);
}

/// Features of items F (features x items) with a weight beta, which join the problem of a ColumnProblem:
///
///     min_B || sqrt(W) o (X - X B) ||^2 + beta sum_i b_i | F_:i - F B_:i |^2 + tr(B' Lambda B).
///
/// They are further rows of X with a = beta, without C. So G = X' diag(a) X + beta F'F, and all that holds of
/// columns holds with it: c_i = (H_i - Lambda) e_i, the preconditioner, the bounds and the certificate.
class FeatureRows {
 public:
  /// No features.
  FeatureRows() = default;
  /// F's values are above 0, or all 1 where it has none; beta >= 0, and 0 is as no features. F must outlive
  /// it.
  FeatureRows(CsrView F, double beta);

  [[nodiscard]] bool empty() const { return F_.rows == 0; }
  [[nodiscard]] double beta() const { return beta_; }
  [[nodiscard]] CsrView rows() const { return F_; }
  /// F'.
  [[nodiscard]] CsrView of_items() const { return by_item_.view(); }
  /// beta |F_:i|^2 of each item: what a column of zeros leaves, divided by b_i.
  [[nodiscard]] std::vector<double> observed() const;
  /// Distinguishes F and beta from others.
  [[nodiscard]] std::uint64_t fingerprint() const;

  /// G += beta F'F. sum over features of |F_f|^2 operations, and items^2 to add them.
  template <class T>
  void add_gram(Out<T> G, Backend& backend, const Execution& execution) const;
  /// y += beta F'F v of columns v (items x k). 4 k entries(F) operations.
  void add_product(In<double> v, Out<double> y, Backend& backend) const;
  /// out_s += beta F_:i . F p_s of rows p_s, i = items[s].
  template <class T>
  void add_forms(std::span<const std::int32_t> items, In<T> p, std::span<double> out, Backend& backend,
                 const Execution& execution) const;

 private:
  /// Adds F'F_:i; exactly symmetric.
  void add_gram_row(std::int32_t i, std::span<double> to) const;

  CsrView F_ = {};
  Csr by_item_ = {};
  double beta_ = 0;
};

extern template void FeatureRows::add_gram<float>(Out<float>, Backend&, const Execution&) const;
extern template void FeatureRows::add_gram<double>(Out<double>, Backend&, const Execution&) const;
extern template void FeatureRows::add_forms<float>(std::span<const std::int32_t>, In<float>,
                                                   std::span<double>, Backend&, const Execution&) const;
extern template void FeatureRows::add_forms<double>(std::span<const std::int32_t>, In<double>,
                                                    std::span<double>, Backend&, const Execution&) const;

}  // namespace poise
