#include "poise/solver/shared_inverse.hpp"

#include <algorithm>

namespace poise {

template <class T>
void ExplicitInverse<T>::apply(MatrixView<const T> r, MatrixView<T> z) const {
  backend_.gemm(Op::none, Op::none, T{1}, r, A_inverse_, T{0}, z);
}

template <class T>
void ExplicitInverse<T>::column(std::int64_t i, std::span<T> out) const {
  const auto row = A_inverse_.row(i);  // A^-1 is symmetric
  std::copy(row.begin(), row.end(), out.begin());
}

template class ExplicitInverse<float>;
template class ExplicitInverse<double>;

void InverseInPlace::apply(MatrixView<const float> r, MatrixView<float> z) const {
  for (std::int64_t k = 0; k < r.rows; ++k) std::copy_n(r.row(k).data(), r.cols, z.row(k).data());
  backend_.gemm(Op::none, Op::transpose, -1.0F, r, B_transposed_, 1.0F, z);
  for (std::int64_t k = 0; k < r.rows; ++k) {
    for (std::int64_t i = 0; i < r.cols; ++i) z(k, i) *= s_[i];
  }
}

void InverseInPlace::column(std::int64_t i, std::span<float> out) const {
  const auto row = B_transposed_.row(i);
  for (std::size_t j = 0; j < row.size(); ++j) out[j] = -s_[i] * row[j];
  out[i] = diagonal(i);
}

}  // namespace poise
