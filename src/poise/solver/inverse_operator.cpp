#include "poise/solver/inverse_operator.hpp"

#include "poise/linalg/vector.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {

template <class T>
void WholeInverse<T>::copy_rows(Indices items, Out<T> to) const {
  backend_.copy_rows(A_inverse_, items, to, {});  // A^-1 is symmetric
}

template <class T>
void WholeInverse<T>::multiply(In<T> r, Out<T> z) const {
  backend_.multiply_symmetric(r, A_inverse_, z);
}

template <class T>
Matrix<T> WholeInverse<T>::times(const Matrix<T>& y) const {
  return poise::times(Op::none, A_inverse_, y, backend_);
}

template <class T>
std::vector<double> WholeInverse<T>::diagonal() const {
  std::vector<double> diagonal(A_inverse_.rows);
  const std::vector<std::int32_t> all = numbers_from(0, A_inverse_.rows);
  backend_.get_entries(A_inverse_, all, all, diagonal);
  return diagonal;
}

template class WholeInverse<float>;
template class WholeInverse<double>;

}  // namespace poise
