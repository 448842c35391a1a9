#pragma once

#include "poise/backend/backend.hpp"
#include "poise/solver/column_problem.hpp"
#include "poise/solver/inverse_operator.hpp"
#include "poise/solver/linear_operator.hpp"

namespace poise {

/// Column i of a ColumnProblem divided by b_i: H_i / b_i = A + sum_u a_u C_ui x_u x_u' + (1/b_i - 1/b_bar)
/// Lambda. With `zero_diagonal`, on the coordinates other than i (entry i of p and of the result are 0).
template <class T>
class ColumnSystem final : public LinearOperator<T> {
 public:
  ColumnSystem(const ColumnProblem& problem, bool zero_diagonal, Backend& backend)
      : problem_(problem), zero_diagonal_(zero_diagonal), backend_(backend) {}
  /// Applies the systems to columns p, given A p; p.systems are their items.
  void apply(const Vectors<T>& p, Out<T> out) override;

 private:
  const ColumnProblem& problem_;
  bool zero_diagonal_;
  Backend& backend_;
};

/// A^-1 r; with `zero_diagonal` the inverse of A without row and column i: z = A^-1 r - (A^-1 r)_i /
/// (A^-1)_ii A^-1 e_i.
template <class T>
class ColumnPreconditioner final : public LinearOperator<T> {
 public:
  /// `diagonal` is the diagonal of A^-1.
  ColumnPreconditioner(const InverseOperator<T>& A_inverse, std::span<const double> diagonal,
                       bool zero_diagonal, Backend& backend)
      : A_inverse_(A_inverse), diagonal_(diagonal), zero_diagonal_(zero_diagonal), backend_(backend) {}
  void apply(const Vectors<T>& r, Out<T> z) override;

 private:
  const InverseOperator<T>& A_inverse_;
  std::span<const double> diagonal_;
  bool zero_diagonal_;
  Backend& backend_;
};

}  // namespace poise
