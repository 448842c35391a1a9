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

/// A saved column and what is proven of it.
struct CheckedColumn {
  ColumnFigures figures;
  double excess = 0;  ///< at most this far above the minimum
  double ratio = 0;   ///< of the excess to what the column explains
};

/// Solving, checking and correcting blocks of columns of one ColumnProblem over one shared inverse. Blocks
/// hold a column per row, where the backend computes: row k belongs to item items[k].
template <class T>
class ColumnSolver {
 public:
  /// `G` is X' diag(a) X, or has no rows: then residuals go through the data.
  ColumnSolver(const ColumnProblem& problem, MatrixView<const T> A_inverse, MatrixView<const double> G,
               double tolerance, Backend& backend, const Execution& execution);

  /// sum_u W_ui X_ui of each item.
  [[nodiscard]] const std::vector<double>& observed() const { return observed_; }
  /// The diagonal of A^-1.
  [[nodiscard]] const std::vector<double>& inverse_diagonal() const { return diagonal_; }
  /// A, through the data.
  [[nodiscard]] const SharedSystem& shared_system() const;

  /// h = (H_i / b_i)^-1 e_i by conjugate gradients from A^-1 e_i, to the tolerance with and without a
  /// diagonal, so that neither depends on whether the other is wanted. Returns the most iterations; `worst`
  /// grows to the worst ratio of excess to explained weight that was left after 0, 1, ... iterations.
  int solve(std::span<const std::int32_t> items, MatrixView<T> h, std::vector<double>& worst) const;

  /// A first beta for a target other than X: A^-1 X'(W_:i o Y_:i) / b_i, the unweighted answer, to be
  /// corrected.
  void start_for_target(std::span<const std::int32_t> items, MatrixView<float> beta) const;

  /// Columns of B out of h: e_i - (l_i / b_i) h, or e_i - h / h_i. `beta` may be h itself.
  void to_columns(std::span<const std::int32_t> items, bool zero_diagonal, MatrixView<const T> h,
                  MatrixView<float> beta) const;

  /// What the multiplier of the constraint beta_i = 0 is, b_i / h_i - l_i, which is also the column's
  /// objective.
  std::vector<double> multipliers(std::span<const std::int32_t> items, MatrixView<const T> h) const;

  /// Proves how good saved columns are, as follows, and leaves them as they are.
  std::vector<CheckedColumn> check(std::span<const std::int32_t> items, bool zero_diagonal,
                                   MatrixView<const float> beta) const {
    return check_with_residuals(items, zero_diagonal, beta).columns;
  }

  /// Proves how good saved columns are, each from its true residual and by a bound that holds whatever
  /// A_inverse is (solver/shared_system.hpp), and improves those that miss the tolerance until they meet it
  /// or nothing helps (iterative refinement: beta <- beta + H_i^-1 rho). Returns what is proven in the end;
  /// `iterations` grows to the most taken.
  std::vector<CheckedColumn> check_and_correct(std::span<const std::int32_t> items, bool zero_diagonal,
                                               MatrixView<float> beta, int& iterations) const;

  /// The objectives of saved columns, through the data.
  void figures(std::span<const std::int32_t> items, MatrixView<const float> beta,
               std::span<ColumnFigures> figures) const;
  /// beta'c_i of saved columns, c_i = X'(W_:i o X_:i): what they explain but for beta'rho, which vanishes at
  /// the optimum, without a pass through all data. `scores`, if asked for, become the x_u . beta of X's
  /// entries, one column after the other.
  std::vector<double> explained(std::span<const std::int32_t> items, MatrixView<const float> beta,
                                std::vector<double>* scores = nullptr) const;

 private:
  struct Checked {
    std::vector<CheckedColumn> columns;
    Resident<double> rho;
  };
  /// X' (items x users) with the weights W_ui as values; made when first asked for, as not every fit does.
  CsrView users_of() const;
  /// `rho` may have no rows.
  void residuals(std::span<const std::int32_t> items, MatrixView<const float> beta, MatrixView<double> rho,
                 std::span<ColumnFigures> figures) const;
  void residuals_through_gram(std::span<const std::int32_t> items, MatrixView<const float> beta,
                              MatrixView<double> rho, std::span<ColumnFigures> figures) const;
  void residuals_on_host(std::span<const std::int32_t> items, MatrixView<const float> beta,
                         MatrixView<double> rho, std::span<ColumnFigures> figures) const;
  std::vector<double> inverse_forms(std::span<const std::int32_t> items, bool zero_diagonal,
                                    MatrixView<const double> rho) const;
  void background(MatrixView<const double> e, MatrixView<double> to) const;
  Checked check_with_residuals(std::span<const std::int32_t> items, bool zero_diagonal,
                               MatrixView<const float> beta) const;

  const ColumnProblem& problem_;
  MatrixView<const T> A_inverse_;
  MatrixView<const double> G_;
  double tolerance_;
  double aim_;  ///< of the solves, below the tolerance
  Backend& backend_;
  const Execution& execution_;
  mutable WeightedTranspose users_of_;  // see users_of()
  mutable std::optional<SharedSystem> shared_system_;
  std::vector<double> observed_;  // per item
  mutable std::vector<double> weight_corrections_;
  std::vector<double> diagonal_;  // of A^-1
  mutable std::vector<Pin> pins_;
};

extern template class ColumnSolver<float>;
extern template class ColumnSolver<double>;

}  // namespace poise
