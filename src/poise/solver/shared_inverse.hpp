#pragma once

#include <span>

#include "poise/backend/backend.hpp"

namespace poise {

/// The inverse of A, which all columns share, however it is held.
template <class T>
class SharedInverse {
 public:
  virtual ~SharedInverse() = default;
  /// z_k = A^-1 r_k for every row. 2 n^2 operations a row.
  virtual void apply(MatrixView<const T> r, MatrixView<T> z) const = 0;
  /// out = A^-1 e_i.
  virtual void column(std::int64_t i, std::span<T> out) const = 0;
  [[nodiscard]] virtual T diagonal(std::int64_t i) const = 0;
};

/// A^-1 as a matrix that somebody else owns.
template <class T>
class ExplicitInverse final : public SharedInverse<T> {
 public:
  ExplicitInverse(MatrixView<const T> A_inverse, Backend& backend)
      : A_inverse_(A_inverse), backend_(backend) {}
  void apply(MatrixView<const T> r, MatrixView<T> z) const override;
  void column(std::int64_t i, std::span<T> out) const override;
  [[nodiscard]] T diagonal(std::int64_t i) const override { return A_inverse_(i, i); }

 private:
  MatrixView<const T> A_inverse_;
  Backend& backend_;
};

/// A^-1 = diag(s) (I - B'), out of the solution B of the unweighted problem that took its place: s_i = 1 /
/// l_i for the unconstrained model, (A^-1)_ii for the zero diagonal. So the unweighted model never holds two
/// n x n matrices.
class InverseInPlace final : public SharedInverse<float> {
 public:
  InverseInPlace(MatrixView<const float> B_transposed, std::span<const float> s, Backend& backend)
      : B_transposed_(B_transposed), s_(s), backend_(backend) {}
  void apply(MatrixView<const float> r, MatrixView<float> z) const override;
  void column(std::int64_t i, std::span<float> out) const override;
  [[nodiscard]] float diagonal(std::int64_t i) const override { return s_[i] * (1 - B_transposed_(i, i)); }

 private:
  MatrixView<const float> B_transposed_;
  std::span<const float> s_;
  Backend& backend_;
};

}  // namespace poise
