#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/solver/column_problem.hpp"

namespace poise {

/// T = X A^-1 (m x n), which is shared by every weighting with this A.
template <class T>
class ScoresOfInverse {
 public:
  /// 2 nnz n operations.
  ScoresOfInverse(CsrView X, In<T> A_inverse, Backend& backend);
  [[nodiscard]] MatrixView<const T> view() const { return view_; }

 private:
  std::unique_ptr<T[]> data_;
  MatrixView<const T> view_;
};

/// The exact solution h = (H_i / b_i)^-1 e_i of an item with few users, if b is constant. With Y the rows of
/// X that have C_ui != 0, and c their a_u C_ui,
///
///     h = A^-1 e_i - (Y A^-1)' K^-1 Y A^-1 e_i,   K = diag(1 / c) + Y A^-1 Y',
///
/// all of it sums of entries of T = X A^-1.
template <class Number>
class Woodbury {
 public:
  /// All arguments must outlive it.
  Woodbury(const ColumnProblem& problem, MatrixView<const Number> A_inverse, MatrixView<const Number> T)
      : problem_(problem), A_inverse_(A_inverse), T_(T) {}

  /// Row k of h becomes the solution for items[k]; flag k is 0 if K is singular. About |S| n + |S|^2
  /// mean|N_u| + |S|^3 / 3 operations an item. In host memory.
  [[nodiscard]] std::vector<char> solve(std::span<const std::int32_t> items, MatrixView<Number> h,
                                        const Execution& execution) const;

 private:
  [[nodiscard]] bool solve(std::int32_t item, std::span<Number> h) const;

  const ColumnProblem& problem_;
  MatrixView<const Number> A_inverse_;
  MatrixView<const Number> T_;
};

/// The operations for an item, in units of matrix-product operations.
double woodbury_operations(const ColumnLoad& load, std::int64_t items);

extern template class ScoresOfInverse<float>;
extern template class ScoresOfInverse<double>;
extern template class Woodbury<float>;
extern template class Woodbury<double>;

}  // namespace poise
