#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/column_data.hpp"
#include "poise/solver/column_residual.hpp"
#include "poise/solver/inverse_operator.hpp"

namespace poise {

/// A saved column and what is proven about it.
struct CheckedColumn {
  ColumnFigures figures;
  double excess = 0;  ///< at most this far above the minimum
  double ratio = 0;   ///< of the excess to what the column explains
};

/// Checks saved columns of one ColumnProblem by their true residuals and one shared inverse of any quality.
/// Blocks lie in the backend's memory and hold a column per row: row k belongs to item items[k].
template <class T>
class ColumnChecker {
 public:
  /// `G` is X' diag(a) X + beta F'F; if it has no rows, residuals go through the data. All must outlive it.
  ColumnChecker(const ColumnData& data, const InverseOperator<T>& A_inverse, In<double> G);

  [[nodiscard]] const ColumnData& data() const { return data_; }
  [[nodiscard]] const InverseOperator<T>& A_inverse() const { return A_inverse_; }
  /// The diagonal of A^-1.
  [[nodiscard]] const std::vector<double>& inverse_diagonal() const { return diagonal_; }

  struct Checked {
    std::vector<CheckedColumn> columns;
    Resident<double> rho;  ///< their residuals
  };
  /// Proves how good saved columns are, each from its true residual and by a bound that holds for any
  /// A_inverse (solver/shared_system.hpp).
  [[nodiscard]] Checked check(std::span<const std::int32_t> items, bool zero_diagonal, In<float> beta) const;

  /// The objectives of saved columns, through the data, and their residuals unless `rho` has no rows.
  void residuals(std::span<const std::int32_t> items, In<float> beta, Out<double> rho,
                 std::span<ColumnFigures> figures) const;

 private:
  void residuals_through_gram(std::span<const std::int32_t> items, In<float> beta, Out<double> rho,
                              std::span<ColumnFigures> figures) const;
  [[nodiscard]] std::vector<double> inverse_forms(std::span<const std::int32_t> items, bool zero_diagonal,
                                                  In<double> rho) const;
  void background(In<double> e, Out<double> to) const;

  const ColumnData& data_;
  const ColumnProblem& problem_;
  const InverseOperator<T>& A_inverse_;
  In<double> G_;
  Backend& backend_;
  std::vector<double> diagonal_;  // of A^-1
};

extern template class ColumnChecker<float>;
extern template class ColumnChecker<double>;

}  // namespace poise
