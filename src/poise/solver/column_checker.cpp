#include "poise/solver/column_checker.hpp"

#include <utility>

#include "poise/linalg/vector.hpp"
#include "poise/solver/block_residual.hpp"
#include "poise/solver/certificate.hpp"
#include "poise/solver/column_system.hpp"
#include "poise/solver/feature_residual.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {

template <class T>
ColumnChecker<T>::ColumnChecker(const ColumnData& data, const InverseOperator<T>& A_inverse, In<double> G)
    : data_(data),
      problem_(data.problem()),
      A_inverse_(A_inverse),
      G_(G),
      backend_(data.backend()),
      diagonal_(A_inverse.diagonal()) {}

template <class T>
typename ColumnChecker<T>::Checked ColumnChecker<T>::check(std::span<const std::int32_t> items,
                                                           bool zero_diagonal, In<float> beta) const {
  Checked checked{std::vector<CheckedColumn>(items.size()), Resident<double>(backend_, beta.rows, beta.cols)};
  std::vector<ColumnFigures> figures(items.size());
  residuals(items, beta, checked.rho.view(), figures);
  if (zero_diagonal) backend_.set_entries(checked.rho.view(), items, std::vector<double>(items.size(), 0.0));
  const std::vector<double> excess = inverse_forms(items, zero_diagonal, readable(checked.rho));
  for (std::size_t k = 0; k < items.size(); ++k) {
    const std::int32_t i = items[k];
    CheckedColumn& column = checked.columns[k];
    column.figures = figures[k];
    column.excess = usable_excess(excess[k]) / (problem_.lo(i) * problem_.W->b_of(i));
    column.ratio = column_ratio(column.excess, column.figures.observed, column.figures.objective);
  }
  return checked;
}

/// rho'A^-1 rho <= rho'e + e'r + r'(Lambda / b_bar)^-1 r with r = rho - A e, for any e; for the zero diagonal
/// without coordinate i. e = P rho, then e <- e + P r while that reduces the bound.
template <class T>
std::vector<double> ColumnChecker<T>::inverse_forms(std::span<const std::int32_t> items, bool zero_diagonal,
                                                    In<double> rho) const {
  constexpr int max_steps = 4;
  constexpr double small_remainder = 0.05;
  ColumnPreconditioner<T> P(A_inverse_, diagonal_, zero_diagonal, backend_);
  std::vector<double> least(problem_.items());
  std::vector<double> inverse_of_least(problem_.items());
  for (std::int64_t j = 0; j < problem_.items(); ++j) {
    least[j] = data_.shared_system().least(j);
    inverse_of_least[j] = 1 / least[j];
  }
  Resident<double> e(backend_, rho.rows, rho.cols);
  Resident<double> r(backend_, rho);
  Resident<double> wide(backend_, rho.rows, rho.cols);
  std::vector<double> forms;
  for (int step = 0; step < max_steps; ++step) {
    {
      Resident<T> narrow(backend_, rho.rows, rho.cols);
      Resident<T> z(backend_, rho.rows, rho.cols);
      backend_.copy(readable(r), narrow.view());
      P.apply({items, narrow.view()}, z.view());
      backend_.copy(readable(z), wide.view());
    }
    backend_.combine(std::vector<Term<double>>{{.x = e.view()}, {.x = wide.view()}}, e.view());
    background(readable(e), wide.view());
    backend_.combine(
        std::vector<Term<double>>{
            {.x = rho}, {.x = wide.view(), .scale = -1}, {.x = e.view(), .scale = -1, .cols = least}},
        r.view());
    if (zero_diagonal) backend_.set_entries(r.view(), items, std::vector<double>(items.size(), 0.0));
    std::vector<double> bounds(items.size());
    std::vector<double> remainders(items.size());
    backend_.combine(std::vector<Term<double>>{{.x = rho}, {.x = r.view()}}, wide.view());
    backend_.row_dots(readable(wide), readable(e), bounds);
    backend_.combine(std::vector<Term<double>>{{.x = r.view(), .cols = inverse_of_least}}, wide.view());
    backend_.row_dots(readable(r), readable(wide), remainders);
    for (std::size_t k = 0; k < items.size(); ++k) {
      bounds[k] += remainders[k];
      if (!forms.empty() && !(bounds[k] < forms[k])) bounds[k] = forms[k];
    }
    forms = std::move(bounds);
    if (!(sum_of(remainders) > small_remainder * sum_of(forms))) break;
  }
  return forms;
}

/// X' diag(a) X e + beta F'F e for each row e, in float64: by G if it is available, else through the data.
template <class T>
void ColumnChecker<T>::background(In<double> e, Out<double> to) const {
  if (G_.rows > 0) {
    backend_.gemm(Op::none, Op::none, 1.0, e, G_, 0.0, to);
    return;
  }
  Matrix<double> rows(e.rows, e.cols);
  backend_.download(e, rows.view());
  const Matrix<double> product = transposed(data_.shared_system().background(transposed(rows)));
  backend_.upload(product.view(), to);
}

template <class T>
void ColumnChecker<T>::residuals(std::span<const std::int32_t> items, In<float> beta, Out<double> rho,
                                 std::span<ColumnFigures> figures) const {
  // If float32 was enough to solve, it is enough to check.
  if (G_.rows > 0 && problem_.target_is_X) {
    residuals_through_gram(items, beta, rho, figures);
  } else if (std::is_same_v<T, float> && problem_.target_is_X && backend_.traits().cheap_gathers) {
    block_residuals(problem_, data_.users_of(), items, ordinary(backend_, beta), ordinary(backend_, rho),
                    figures, backend_, data_.execution());
  } else {
    // Through the data, in host memory.
    Matrix<float> columns(beta.rows, beta.cols);
    Matrix<double> home(rho.rows, rho.cols);
    backend_.download(beta, columns.view());
    column_residuals(problem_, items, columns.view(), home.view(), figures, data_.execution());
    add_feature_residuals(problem_, items, columns.view(), home.view(), figures, backend_);
    if (rho.rows > 0) backend_.upload(home.view(), rho);
  }
}

/// With q = e_i - beta, all in float64,
///
///     rho = b_i (G q + sum_u a_u C_ui x_u (x_u . q)) - Lambda beta,   objective = q'(rho + Lambda beta) +
///     beta'Lambda beta,
///
/// since the target X_:i is X e_i.
template <class T>
void ColumnChecker<T>::residuals_through_gram(std::span<const std::int32_t> items, In<float> beta,
                                              Out<double> rho, std::span<ColumnFigures> figures) const {
  Resident<double> q(backend_, beta.rows, beta.cols);
  Resident<double> Lambda_beta(backend_, beta.rows, beta.cols);
  Resident<double> own;
  if (rho.rows == 0) {
    own = Resident<double>(backend_, beta.rows, beta.cols);
    rho = own.view();
  }
  std::vector<double> b;
  std::vector<double> at(items.size());
  std::vector<double> penalty(items.size());
  std::vector<double> form(items.size());
  for (const std::int32_t i : items) b.push_back(problem_.W->b_of(i));
  backend_.copy(beta, q.view());
  backend_.combine(std::vector<Term<double>>{{.x = q.view(), .cols = problem_.l}}, Lambda_beta.view());
  backend_.row_dots(readable(q), readable(Lambda_beta), penalty);
  backend_.get_entries(readable(q), {}, items, at);
  for (double& entry : at) entry = 1 - entry;
  backend_.combine(std::vector<Term<double>>{{.x = q.view(), .scale = -1}}, q.view());
  backend_.set_entries(q.view(), items, at);
  backend_.gemm(Op::none, Op::none, 1.0, readable(q), G_, 0.0, rho);
  if (problem_.columns.entries() > 0)
    backend_.column_hessian(problem_.X, problem_.columns.view(), items, readable(q), rho);
  backend_.row_dots(readable(q), In<double>(rho), form);
  backend_.combine(std::vector<Term<double>>{{.x = rho, .rows = b}, {.x = Lambda_beta.view(), .scale = -1}},
                   rho);
  for (std::size_t k = 0; k < items.size(); ++k)
    figures[k] = {.observed = data_.observed()[items[k]], .objective = b[k] * form[k] + penalty[k]};
}

template class ColumnChecker<float>;
template class ColumnChecker<double>;

}  // namespace poise
