#pragma once

#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// The computed A^-1 as solvers and proofs read it: here, or spread over processes.
template <class T>
class InverseOperator {
 public:
  InverseOperator() = default;
  InverseOperator(const InverseOperator&) = delete;
  InverseOperator& operator=(const InverseOperator&) = delete;
  virtual ~InverseOperator() = default;

  /// Row k of `to` becomes A^-1 e_i, i = items[k], of columns that this process solves.
  virtual void copy_rows(Indices items, Out<T> to) const = 0;
  /// Z = R A^-1 for the rows of R. 2 n^2 operations a row. Processes may need it a different number of times
  /// before they call finish().
  virtual void multiply(In<T> r, Out<T> z) const = 0;
  /// Ends such a series: helps the others until all have called it.
  virtual void finish() const {}
  /// A^-1 y, the same y at all processes.
  [[nodiscard]] virtual Matrix<T> times(const Matrix<T>& y) const = 0;
  /// The diagonal of A^-1.
  [[nodiscard]] virtual std::vector<double> diagonal() const = 0;
};

/// All of it in the backend's memory, which must outlive it.
template <class T>
class WholeInverse final : public InverseOperator<T> {
 public:
  WholeInverse(In<T> A_inverse, Backend& backend) : A_inverse_(A_inverse), backend_(backend) {}
  void copy_rows(Indices items, Out<T> to) const override;
  void multiply(In<T> r, Out<T> z) const override;
  [[nodiscard]] Matrix<T> times(const Matrix<T>& y) const override;
  [[nodiscard]] std::vector<double> diagonal() const override;

 private:
  In<T> A_inverse_;
  Backend& backend_;
};

extern template class WholeInverse<float>;
extern template class WholeInverse<double>;

}  // namespace poise
