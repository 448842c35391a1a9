#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/linalg/matrix.hpp"
#include "poise/solver/column_checker.hpp"

namespace poise {

/// Solving and correcting blocks of columns of one ColumnProblem over one shared inverse. Blocks hold a
/// column per row, where the backend computes: row k belongs to item items[k].
template <class T>
class ColumnSolver {
 public:
  /// The checker, whose problem and inverse these are, must outlive it. `all_iterated`: whether every column
  /// is iterated, none solved by Woodbury's identity; `continued`: whether solves go on from earlier ones,
  /// whose errors stay and add up.
  ColumnSolver(const ColumnChecker<T>& checker, double tolerance, bool all_iterated, bool continued = false);

  /// h = (H_i / b_i)^-1 e_i by conjugate gradients from A^-1 e_i, to the tolerance with and without a
  /// diagonal, so that neither depends on whether the other is requested. Returns the most iterations;
  /// `worst` grows to the worst ratio of excess to explained weight that was left after 0, 1, ... iterations.
  int solve(std::span<const std::int32_t> items, Out<T> h, std::vector<double>& worst) const;
  /// The same from any h, of which r is the residual e_i - (H_i / b_i) h; r is overwritten.
  int solve_from(std::span<const std::int32_t> items, Out<T> h, Out<T> r, std::vector<double>& worst) const;

  /// A first beta for a target other than X: A^-1 X'(W_:i o Y_:i) / b_i, the unweighted solution, to be
  /// corrected.
  void start_for_target(std::span<const std::int32_t> items, Out<float> beta) const;

  /// Columns of B out of h: e_i - (l_i / b_i) h, or e_i - h / h_i. `beta` may be h itself.
  void to_columns(std::span<const std::int32_t> items, bool zero_diagonal, In<T> h, Out<float> beta) const;

  /// Rows of B out of those of a symmetric A^-1, for W = 1 or user weights alone: the same numbers. `rows`
  /// may be h itself.
  void to_rows(std::span<const std::int32_t> items, bool zero_diagonal, In<T> h, Out<T> rows) const;

  /// The multiplier of the constraint beta_i = 0: b_i / h_i - l_i, which is also the column's objective.
  std::vector<double> multipliers(std::span<const std::int32_t> items, In<T> h) const;

  /// Proves how good saved columns are, and improves those that miss the tolerance until they meet it or
  /// nothing helps (iterative refinement: beta <- beta + H_i^-1 rho). Returns what is proven in the end;
  /// `iterations` grows to the most taken.
  std::vector<CheckedColumn> check_and_correct(std::span<const std::int32_t> items, bool zero_diagonal,
                                               Out<float> beta, int& iterations) const;

 private:
  const ColumnChecker<T>& checker_;
  const ColumnProblem& problem_;
  const InverseOperator<T>& A_inverse_;
  const std::vector<double>& diagonal_;  ///< of A^-1
  Backend& backend_;
  double tolerance_;
  double aim_;  ///< of the solves, below the tolerance
};

extern template class ColumnSolver<float>;
extern template class ColumnSolver<double>;

}  // namespace poise
