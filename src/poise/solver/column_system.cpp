#include "poise/solver/column_system.hpp"

#include <algorithm>

#include "poise/linalg/vector.hpp"

namespace poise {

template <class T>
void ColumnSystem<T>::apply(std::span<const std::int32_t> items, MatrixView<const T> p,
                            MatrixView<const T> Ap, MatrixView<T> out) {
  for (std::int64_t k = 0; k < p.rows; ++k) {
    std::copy_n(Ap.row(k).data(), Ap.cols, out.row(k).data());
    const double shift = 1 / problem_.W->b_of(items[k]) - 1 / problem_.b_bar;
    if (shift == 0) continue;
    for (std::int64_t j = 0; j < p.cols; ++j) out(k, j) += static_cast<T>(shift * problem_.l[j] * p(k, j));
  }
  if (problem_.columns.entries() > 0)
    backend_.column_hessian(problem_.X, problem_.columns.view(), items, p, out);
  if (!zero_diagonal_) return;
  for (std::int64_t k = 0; k < p.rows; ++k) out(k, items[k]) = 0;
}

template <class T>
void ColumnPreconditioner<T>::apply(std::span<const std::int32_t> items, MatrixView<const T> r,
                                    MatrixView<T> z) {
  backend_.gemm(Op::none, Op::none, T{1}, r, A_inverse_, T{0}, z);
  if (!zero_diagonal_) return;
  for (std::int64_t k = 0; k < r.rows; ++k) {
    const std::int32_t i = items[k];
    add_scaled(-z(k, i) / A_inverse_(i, i), A_inverse_.row(i), z.row(k));
    z(k, i) = 0;
  }
}

template class ColumnSystem<float>;
template class ColumnSystem<double>;
template class ColumnPreconditioner<float>;
template class ColumnPreconditioner<double>;

}  // namespace poise
