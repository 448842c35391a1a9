#include "poise/solver/column_system.hpp"

#include <algorithm>
#include <vector>

#include "poise/backend/resident.hpp"

namespace poise {

template <class T>
void ColumnSystem<T>::apply(const Vectors<T>& p, Out<T> out) {
  const std::span<const std::int32_t> items = p.systems;
  std::vector<double> shift;
  for (const std::int32_t i : items) shift.push_back(1 / problem_.W->b_of(i) - 1 / problem_.b_bar);
  std::vector<Term<T>> terms{{.x = p.Mx}};
  if (std::ranges::any_of(shift, [](double s) { return s != 0; }))
    terms.push_back({.x = p.x, .rows = shift, .cols = problem_.l});
  backend_.combine(terms, out);
  if (problem_.columns.entries() > 0)
    backend_.column_hessian(problem_.X, problem_.columns.view(), items, p.x, out);
  if (zero_diagonal_) backend_.set_entries(out, items, std::vector<double>(items.size(), 0.0));
}

template <class T>
void ColumnPreconditioner<T>::apply(const Vectors<T>& r, Out<T> z) {
  const std::span<const std::int32_t> items = r.systems;
  A_inverse_.multiply(r.x, z);
  if (!zero_diagonal_) return;
  std::vector<double> factor(items.size());
  backend_.get_entries(In<T>(z), {}, items, factor);
  for (std::size_t k = 0; k < items.size(); ++k) factor[k] /= -diagonal_[items[k]];
  Resident<T> rows(backend_, z.rows, z.cols);
  A_inverse_.copy_rows(items, rows.view());
  backend_.combine(std::vector<Term<T>>{{.x = z}, {.x = rows.view(), .rows = factor}}, z);
  backend_.set_entries(z, items, std::vector<double>(items.size(), 0.0));
}

template class ColumnSystem<float>;
template class ColumnSystem<double>;
template class ColumnPreconditioner<float>;
template class ColumnPreconditioner<double>;

}  // namespace poise
