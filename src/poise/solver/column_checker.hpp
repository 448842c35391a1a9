#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/column_problem.hpp"
#include "poise/solver/column_residual.hpp"
#include "poise/solver/shared_system.hpp"

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
  /// `G` is X' diag(a) X; if it has no rows, residuals go through the data.
  ColumnChecker(const ColumnProblem& problem, MatrixView<const T> A_inverse, MatrixView<const double> G,
                Backend& backend, const Execution& execution);

  [[nodiscard]] const ColumnProblem& problem() const { return problem_; }
  [[nodiscard]] MatrixView<const T> A_inverse() const { return A_inverse_; }
  [[nodiscard]] Backend& backend() const { return backend_; }
  [[nodiscard]] Observer* observer() const { return execution_.observer; }
  /// sum_u W_ui X_ui of each item.
  [[nodiscard]] const std::vector<double>& observed() const { return observed_; }
  /// The diagonal of A^-1.
  [[nodiscard]] const std::vector<double>& inverse_diagonal() const { return diagonal_; }
  /// A, through the data.
  [[nodiscard]] const SharedSystem& shared_system() const;
  /// X' (items x users) with the weights W_ui as values; computed at the first call, because not every fit
  /// needs it.
  [[nodiscard]] CsrView users_of() const;

  struct Checked {
    std::vector<CheckedColumn> columns;
    Resident<double> rho;  ///< their residuals
  };
  /// Proves how good saved columns are, each from its true residual and by a bound that holds for any
  /// A_inverse (solver/shared_system.hpp).
  [[nodiscard]] Checked check(std::span<const std::int32_t> items, bool zero_diagonal,
                              MatrixView<const float> beta) const;

  /// The objectives of saved columns, through the data, and their residuals unless `rho` has no rows.
  void residuals(std::span<const std::int32_t> items, MatrixView<const float> beta, MatrixView<double> rho,
                 std::span<ColumnFigures> figures) const;
  /// beta'c_i of saved columns, c_i = X'(W_:i o X_:i): the weight they explain except for beta'rho, which
  /// vanishes at the optimum, without a pass through all data. `scores`, unless empty, receive the x_u . beta
  /// of X's entries, one column after the other.
  std::vector<double> explained(std::span<const std::int32_t> items, MatrixView<const float> beta,
                                std::vector<double>* scores = nullptr) const;

 private:
  void residuals_through_gram(std::span<const std::int32_t> items, MatrixView<const float> beta,
                              MatrixView<double> rho, std::span<ColumnFigures> figures) const;
  std::vector<double> inverse_forms(std::span<const std::int32_t> items, bool zero_diagonal,
                                    MatrixView<const double> rho) const;
  void background(MatrixView<const double> e, MatrixView<double> to) const;

  const ColumnProblem& problem_;
  MatrixView<const T> A_inverse_;
  MatrixView<const double> G_;
  Backend& backend_;
  const Execution& execution_;
  mutable WeightedTranspose users_of_;  // see users_of()
  mutable std::optional<SharedSystem> shared_system_;
  std::vector<double> observed_;  // per item
  mutable std::vector<double> weight_corrections_;
  std::vector<double> diagonal_;  // of A^-1
  mutable std::vector<Pin> pins_;
};

extern template class ColumnChecker<float>;
extern template class ColumnChecker<double>;

}  // namespace poise
