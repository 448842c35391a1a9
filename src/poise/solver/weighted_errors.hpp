#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/column_problem.hpp"
#include "poise/solver/saved_columns.hpp"

namespace poise {

/// The errors of saved columns where C has entries, each times its weight: with q_i = e_i - B_:i
///
///     E_ui = b_i a_u C_ui (x_u . q_i) = b_i a_u C_ui (X_ui - (XB)_ui).
///
/// With them b_i X' diag(a C_:i) X q_i = X'E_:i, so products of all such vectors are products with two sparse
/// matrices, and the sparse part of a column's system is computed once. In float64, stored as the sum of two
/// float32 numbers. 8 bytes an entry, 16 during a product with E. Of the columns of a share each process
/// keeps its own, in 12 and 20 bytes an entry; products are added up over all, in the order of ranks.
///
/// A GPU evaluates the column systems again for each product instead: its kernel is faster than copying E
/// there in the order of users.
class WeightedErrors {
 public:
  /// No entries where C = 0. `users_of` is X' (its values are not read). All must outlive it.
  WeightedErrors(const ColumnProblem& problem, CsrView users_of, Backend& backend, const Execution& execution,
                 const ColumnShare* share = nullptr);

  [[nodiscard]] bool empty() const { return problem_.columns.entries() == 0; }
  /// Whether add() uses scores.
  [[nodiscard]] bool takes_scores() const { return kept_ && problem_.on_support_of_X(); }

  /// Adds saved columns; row k of `beta` is column items[k]. `scores` are their (XB)_ui on the support of C,
  /// one item after the other; empty if they are unknown.
  void add(std::span<const std::int32_t> items, In<float> beta, std::span<const double> scores);

  /// X'E z, items x vectors, over all columns once they were added. 8 operations per entry and vector.
  [[nodiscard]] Matrix<double> products(SavedColumns columns, const Matrix<double>& z) const;
  /// E'X e in the same way.
  [[nodiscard]] Matrix<double> dots(SavedColumns columns, const Matrix<double>& e) const;

 private:
  /// C's entries in this process' columns.
  [[nodiscard]] CsrView own() const { return share_ == nullptr ? problem_.columns.view() : own_.view(); }
  [[nodiscard]] CsrView part(const std::vector<float>& values) const;
  [[nodiscard]] Matrix<double> own_products(SavedColumns columns, const Matrix<double>& z) const;
  [[nodiscard]] Matrix<double> own_dots(SavedColumns columns, const Matrix<double>& e) const;
  [[nodiscard]] Matrix<double> of_all(Matrix<double> of_own) const;
  /// Calls body(items, X'E_:i as rows) for some columns at a time.
  template <class Body>
  void for_each_block(SavedColumns columns, const Body& body) const;

  const ColumnProblem& problem_;
  CsrView X_;
  CsrView users_of_;
  Backend& backend_;
  const Execution& execution_;
  const ColumnShare* share_;
  bool kept_;
  Csr own_;                  // of a share; the rows of other processes' items are empty
  std::vector<float> high_;  // parallel to own()
  std::vector<float> low_;
};

}  // namespace poise
