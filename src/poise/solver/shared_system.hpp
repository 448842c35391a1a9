#pragma once

#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/column_problem.hpp"
#include "poise/solver/inverse_operator.hpp"
#include "poise/solver/saved_columns.hpp"

namespace poise {

/// A = X' diag(a) X + beta F'F + Lambda / b_bar, which the columns of a ColumnProblem share, applied through
/// the data in float64, so that no computed inverse has to be trusted. Vectors are the columns of items x k
/// matrices in host memory.
class SharedSystem {
 public:
  /// `users_of` is X' (its values are not read). Both must outlive it.
  SharedSystem(const ColumnProblem& problem, CsrView users_of, Backend& backend, const Execution& execution);

  /// X' diag(a) X v + beta F'F v. 4 nnz operations a vector; 32 numbers of memory for each user.
  [[nodiscard]] Matrix<double> background(const Matrix<double>& v) const;
  /// (Lambda / b_bar)_i; the diagonal matrix of these is a lower bound of A.
  [[nodiscard]] double least(std::int64_t i) const { return problem_.l[i] / problem_.b_bar; }
  [[nodiscard]] const ColumnProblem& problem() const { return problem_; }
  /// X', without values.
  [[nodiscard]] CsrView users_of() const { return users_of_; }

 private:
  const ColumnProblem& problem_;
  CsrView X_;
  CsrView users_of_;
  Backend& backend_;
  const Execution& execution_;
  std::vector<double> a_;
};

/// An approximation of A^-1 of any quality.
class ApproximateInverse {
 public:
  virtual ~ApproximateInverse() = default;
  /// P y.
  [[nodiscard]] virtual Matrix<double> apply(const Matrix<double>& y) = 0;
};

/// The computed inverse. 2 n^2 operations a vector.
template <class T>
class ComputedInverse final : public ApproximateInverse {
 public:
  explicit ComputedInverse(const InverseOperator<T>& A_inverse) : A_inverse_(A_inverse) {}
  [[nodiscard]] Matrix<double> apply(const Matrix<double>& y) override;

 private:
  const InverseOperator<T>& A_inverse_;
};

/// The inverse from which unweighted columns were made: B_:i = e_i - A^-1 e_i / p_i, so A^-1 = (I - B)
/// diag(p) up to rounding, and only B is needed to certify it.
class InverseOfColumns final : public ApproximateInverse {
 public:
  /// `p` is 1 / l_i, or (A^-1)_ii for the zero diagonal.
  InverseOfColumns(SavedColumns columns, std::vector<double> p, Backend& backend)
      : columns_(columns), p_(std::move(p)), backend_(backend) {}
  [[nodiscard]] Matrix<double> apply(const Matrix<double>& y) override;

 private:
  SavedColumns columns_;
  std::vector<double> p_;
  Backend& backend_;
};

/// e close to A^-1 y, and bounds from it.
struct InverseForms {
  Matrix<double> e;
  Matrix<double> background;      ///< X' diag(a) X e + beta F'F e
  std::vector<double> form;       ///< at least y'A^-1 y
  std::vector<double> remainder;  ///< at least r'A^-1 r, r = y - A e
};

/// For each column y, with e = P y and r = y - A e,
///
///     y'A^-1 y = y'e + e'r + r'A^-1 r <= y'e + e'r + r'(Lambda / b_bar)^-1 r,
///
/// since A >= Lambda / b_bar. If the remainders are more than `share` of the forms, conjugate gradients with
/// P as the preconditioner improve e. A bound that is NaN becomes infinite: it proves nothing.
InverseForms bound_inverse_forms(const SharedSystem& A, ApproximateInverse& P, const Matrix<double>& y,
                                 double share);
/// The same from a given e, `start`.
InverseForms bound_inverse_forms(const SharedSystem& A, ApproximateInverse& P, const Matrix<double>& y,
                                 double share, Matrix<double> start);

extern template class ComputedInverse<float>;
extern template class ComputedInverse<double>;

}  // namespace poise
