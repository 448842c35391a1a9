#include "poise/model/full_rank_columns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "poise/solver/block_residual.hpp"
#include "poise/solver/certificate.hpp"
#include "poise/solver/column_system.hpp"
#include "poise/solver/pcg.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {

namespace {

constexpr int max_iterations = 1000;
constexpr int max_corrections = 8;
/// The solver aims well below the tolerance: the check, which sees rounding too, then passes, and an
/// iteration or two more than the proof needs keep items that nearly tie in their exact order.
constexpr double margin = 1e-2;
/// However loose a proof is asked for: rankings show what lies above.
constexpr double loosest_aim = 1e-6;
/// On a GPU, whose columns are all iterated, problems of so few items are solved further: it takes next to no
/// time, and metrics that are means over few users show every hit.
constexpr double small_margin = 1e-4;
constexpr std::int64_t small_items = 8192;

template <class T>
MatrixView<const T> readable(const Resident<T>& block) {
  return block.view();
}

}  // namespace

template <class T>
ColumnSolver<T>::ColumnSolver(const ColumnProblem& problem, MatrixView<const T> A_inverse,
                              MatrixView<const double> G, double tolerance, Backend& backend,
                              const Execution& execution)
    : problem_(problem),
      A_inverse_(A_inverse),
      G_(G),
      tolerance_(tolerance),
      aim_(std::min(
          loosest_aim,
          tolerance * (!backend.on_host() && problem.items() <= small_items ? small_margin : margin))),
      backend_(backend),
      execution_(execution),
      observed_(observed_weights(problem, execution.threads)),
      diagonal_(problem.items()) {
  std::vector<std::int32_t> all(problem.items());
  std::iota(all.begin(), all.end(), 0);
  backend.get_entries(A_inverse, all, all, diagonal_);
  pins_.push_back(backend.pin(problem.columns.view()));
}

template <class T>
CsrView ColumnSolver<T>::users_of() const {
  if (users_of_.view().rows == 0 && problem_.items() > 0) {
    users_of_ = weighted_transpose(problem_, execution_.threads);
    pins_.push_back(backend_.pin(users_of_.view()));
  }
  return users_of_.view();
}

template <class T>
const SharedSystem& ColumnSolver<T>::shared_system() const {
  if (!shared_system_) shared_system_.emplace(problem_, users_of(), backend_, execution_);
  return *shared_system_;
}

template <class T>
int ColumnSolver<T>::solve(std::span<const std::int32_t> items, MatrixView<T> h,
                           std::vector<double>& worst) const {
  ColumnSystem<T> H(problem_, false, backend_);
  ColumnPreconditioner<T> A_inverse(A_inverse_, diagonal_, false, backend_);
  // From h = A^-1 e_i, for which A h = e_i: r = e_i - H h is minus the correction, sparse work.
  Resident<T> r(backend_, h.rows, h.cols);
  {
    Resident<T> Ah(backend_, h.rows, h.cols);
    backend_.set_entries(Ah.view(), items, std::vector<double>(items.size(), 1.0));
    backend_.copy_rows(A_inverse_, items, h, {});  // A^-1 is symmetric
    H.apply({items, h, Ah.view()}, r.view());
    backend_.combine(std::vector<Term<T>>{{.x = Ah.view()}, {.x = r.view(), .scale = -1}}, r.view());
  }

  // The residual of B's column is -l_i r unconstrained, and -(b_i / h_i) r off coordinate i for the zero
  // diagonal.
  std::vector<std::vector<double>> ratios(items.size());
  std::vector<std::size_t> position(problem_.items());
  for (std::size_t k = 0; k < items.size(); ++k) position[items[k]] = k;
  const auto solved = [&](const PcgState& state) {
    const std::int32_t i = state.system;
    const double l = problem_.l[i];
    const double b = problem_.W->b_of(i);
    const double h_ii = state.x;
    const double scale = problem_.lo(i) * b;
    const auto ratio = [&](double excess, double objective) {
      return excess <= 0 ? 0 : excess / std::max(observed_[i] - objective, 1e-6 * observed_[i]);
    };
    const double off_diagonal = state.rz - state.z * state.z / diagonal_[i];
    const double larger = std::max(ratio(l * l * state.rz / scale, l - l * l * h_ii / b),
                                   ratio(b * b / (h_ii * h_ii) * off_diagonal / scale, b / h_ii - l));
    if (observed_[i] > 0) ratios[position[i]].push_back(larger);
    return larger <= aim_;
  };
  const std::vector<PcgOutcome> outcomes =
      pcg<T>(H, A_inverse, {items.begin(), items.end()}, h, r.view(), {solved, max_iterations},
             inner_product<T>(backend_), backend_, execution_.observer);
  int most = 0;
  for (const PcgOutcome& outcome : outcomes) most = std::max(most, outcome.iterations);
  for (const std::vector<double>& of_column : ratios) {
    if (worst.size() < of_column.size()) worst.resize(of_column.size(), 0.0);
    for (std::size_t k = 0; k < of_column.size(); ++k) worst[k] = std::max(worst[k], of_column[k]);
  }
  return most;
}

template <class T>
void ColumnSolver<T>::to_columns(std::span<const std::int32_t> items, bool zero_diagonal,
                                 MatrixView<const T> h, MatrixView<float> beta) const {
  std::vector<double> factor(items.size());
  std::vector<double> diagonal(items.size(), 0.0);
  if (zero_diagonal) {
    backend_.get_entries(h, {}, items, factor);
    for (double& f : factor) f = -1 / f;
  } else {
    // 1 - l_i h_ii cancels where l_i is large; the same number is a sum over the item's users without
    // cancellation.
    backend_.column_form(problem_.X, users_of(), items, h, diagonal, {});
    for (std::size_t k = 0; k < items.size(); ++k) {
      factor[k] = -problem_.l[items[k]] / problem_.W->b_of(items[k]);
      diagonal[k] /= problem_.W->b_of(items[k]);
    }
  }
  if constexpr (std::is_same_v<T, float>) {
    backend_.combine(std::vector<Term<float>>{{.x = h, .rows = factor}}, beta);
  } else {
    Resident<double> scaled(backend_, h.rows, h.cols);
    backend_.combine(std::vector<Term<double>>{{.x = h, .rows = factor}}, scaled.view());
    backend_.copy(readable(scaled), beta);
  }
  backend_.set_entries(beta, items, diagonal);
}

template <class T>
std::vector<double> ColumnSolver<T>::multipliers(std::span<const std::int32_t> items,
                                                 MatrixView<const T> h) const {
  std::vector<double> result(items.size());
  backend_.get_entries(h, {}, items, result);
  for (std::size_t k = 0; k < items.size(); ++k)
    result[k] = problem_.W->b_of(items[k]) / result[k] - problem_.l[items[k]];
  return result;
}

template <class T>
void ColumnSolver<T>::start_for_target(std::span<const std::int32_t> items, MatrixView<float> beta) const {
  Resident<double> c(backend_, beta.rows, beta.cols);  // the residual of beta = 0
  std::vector<ColumnFigures> figures(items.size());
  backend_.combine(std::span<const Term<float>>(), beta);
  residuals(items, beta, c.view(), figures);
  std::vector<double> scale;
  for (const std::int32_t i : items) scale.push_back(1 / problem_.W->b_of(i));
  backend_.combine(std::vector<Term<double>>{{.x = c.view(), .rows = scale}}, c.view());
  Resident<T> r(backend_, beta.rows, beta.cols);
  Resident<T> z(backend_, beta.rows, beta.cols);
  backend_.copy(readable(c), r.view());
  ColumnPreconditioner<T>(A_inverse_, diagonal_, false, backend_).apply({items, r.view()}, z.view());
  backend_.copy(readable(z), beta);
}

template <class T>
typename ColumnSolver<T>::Checked ColumnSolver<T>::check_with_residuals(std::span<const std::int32_t> items,
                                                                        bool zero_diagonal,
                                                                        MatrixView<const float> beta) const {
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

/// rho'A^-1 rho <= rho'e + e'r + r'(Lambda / b_bar)^-1 r with r = rho - A e, whatever e is; for the zero
/// diagonal without coordinate i. e = P rho, and e <- e + P r while that helps.
template <class T>
std::vector<double> ColumnSolver<T>::inverse_forms(std::span<const std::int32_t> items, bool zero_diagonal,
                                                   MatrixView<const double> rho) const {
  constexpr int max_steps = 4;
  constexpr double small_remainder = 0.05;
  ColumnPreconditioner<T> P(A_inverse_, diagonal_, zero_diagonal, backend_);
  std::vector<double> least(problem_.items());
  std::vector<double> inverse_of_least(problem_.items());
  for (std::int64_t j = 0; j < problem_.items(); ++j) {
    least[j] = shared_system().least(j);
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
    const auto total = [](const std::vector<double>& each) {
      return std::accumulate(each.begin(), each.end(), 0.0);
    };
    if (!(total(remainders) > small_remainder * total(forms))) break;
  }
  return forms;
}

/// X' diag(a) X e for each row e, in float64: by G where that is there, else through the data.
template <class T>
void ColumnSolver<T>::background(MatrixView<const double> e, MatrixView<double> to) const {
  if (G_.rows > 0) {
    backend_.gemm(Op::none, Op::none, 1.0, e, G_, 0.0, to);
    return;
  }
  Matrix<double> rows(e.rows, e.cols);
  backend_.copy(e, rows.view());
  const Matrix<double> product = transposed(shared_system().background(transposed(rows)));
  backend_.copy(product.view(), to);
}

template <class T>
void ColumnSolver<T>::residuals(std::span<const std::int32_t> items, MatrixView<const float> beta,
                                MatrixView<double> rho, std::span<ColumnFigures> figures) const {
  // Where float32 was enough to solve, it is enough to check.
  if (G_.rows > 0 && problem_.target_is_X) {
    residuals_through_gram(items, beta, rho, figures);
  } else if (!backend_.on_host()) {
    residuals_on_host(items, beta, rho, figures);
  } else if (std::is_same_v<T, float> && problem_.target_is_X) {
    block_residuals(problem_, users_of(), items, beta, rho, figures, backend_, execution_);
  } else {
    column_residuals(problem_, items, beta, rho, figures, execution_);
  }
}

/// With q = e_i - beta, all in float64,
///
///     rho = b_i (G q + sum_u a_u C_ui x_u (x_u . q)) - Lambda beta,   objective = q'(rho + Lambda beta) +
///     beta'Lambda beta,
///
/// since the target X_:i is X e_i.
template <class T>
void ColumnSolver<T>::residuals_through_gram(std::span<const std::int32_t> items,
                                             MatrixView<const float> beta, MatrixView<double> rho,
                                             std::span<ColumnFigures> figures) const {
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
  backend_.row_dots(readable(q), MatrixView<const double>(rho), form);
  backend_.combine(std::vector<Term<double>>{{.x = rho, .rows = b}, {.x = Lambda_beta.view(), .scale = -1}},
                   rho);
  for (std::size_t k = 0; k < items.size(); ++k)
    figures[k] = {.observed = observed_[items[k]], .objective = b[k] * form[k] + penalty[k]};
}

template <class T>
void ColumnSolver<T>::residuals_on_host(std::span<const std::int32_t> items, MatrixView<const float> beta,
                                        MatrixView<double> rho, std::span<ColumnFigures> figures) const {
  Matrix<float> columns(beta.rows, beta.cols);
  Matrix<double> home(rho.rows, rho.cols);
  backend_.copy(beta, columns.view());
  column_residuals(problem_, items, columns.view(), home.view(), figures, execution_);
  if (rho.rows > 0) backend_.copy(MatrixView<const double>(home.view()), rho);
}

template <class T>
void ColumnSolver<T>::figures(std::span<const std::int32_t> items, MatrixView<const float> beta,
                              std::span<ColumnFigures> figures) const {
  residuals(items, beta, {}, figures);
}

template <class T>
std::vector<double> ColumnSolver<T>::explained(std::span<const std::int32_t> items,
                                               MatrixView<const float> beta,
                                               std::vector<double>* scores) const {
  std::vector<double> result(items.size());
  std::span<double> to;
  if (scores != nullptr) {
    std::int64_t entries = 0;
    for (const std::int32_t i : items) entries += users_of().row_size(i);
    scores->resize(entries);
    to = *scores;
  }
  backend_.column_form(problem_.X, users_of(), items, beta, result, to);
  if (weight_corrections_.empty()) weight_corrections_ = weight_corrections(users_of(), observed_);
  for (std::size_t k = 0; k < items.size(); ++k) result[k] *= weight_corrections_[items[k]];
  return result;
}

template <class T>
std::vector<CheckedColumn> ColumnSolver<T>::check_and_correct(std::span<const std::int32_t> items,
                                                              bool zero_diagonal, MatrixView<float> beta,
                                                              int& iterations) const {
  Checked checked = check_with_residuals(items, zero_diagonal, beta);
  std::vector<CheckedColumn> result = checked.columns;
  ColumnSystem<T> H(problem_, zero_diagonal, backend_);
  ColumnPreconditioner<T> A_inverse(A_inverse_, diagonal_, zero_diagonal, backend_);
  // Positions in `items` that miss the tolerance; rows of `checked` belong to them.
  std::vector<std::int32_t> open(items.size());
  std::iota(open.begin(), open.end(), 0);
  for (int correction = 0; correction < max_corrections; ++correction) {
    std::vector<std::int32_t> missing;
    std::vector<std::int32_t> positions;
    std::vector<std::int32_t> systems;
    std::vector<double> scale;
    std::vector<double> goal(problem_.items(), 0.0);
    for (std::size_t k = 0; k < open.size(); ++k) {
      const CheckedColumn& column = checked.columns[k];
      if (column.ratio <= tolerance_) continue;
      const std::int32_t i = items[open[k]];
      missing.push_back(static_cast<std::int32_t>(k));
      positions.push_back(open[k]);
      systems.push_back(i);
      scale.push_back(1 / problem_.W->b_of(i));
      goal[i] = aim_ * (column.figures.observed - column.figures.objective + column.excess);
    }
    if (missing.empty()) break;
    const auto count = static_cast<std::int64_t>(missing.size());
    Resident<double> wide(backend_, count, beta.cols);
    Resident<T> r(backend_, count, beta.cols);
    Resident<T> x(backend_, count, beta.cols);
    backend_.copy_rows(readable(checked.rho), missing, wide.view(), {});
    backend_.combine(std::vector<Term<double>>{{.x = wide.view(), .rows = scale}}, wide.view());
    backend_.copy(readable(wide), r.view());
    const auto solved = [&](const PcgState& state) {
      const std::int32_t i = state.system;
      return problem_.W->b_of(i) * state.rz / problem_.lo(i) <= goal[i];
    };
    for (const PcgOutcome& outcome :
         pcg<T>(H, A_inverse, systems, x.view(), r.view(), {solved, max_iterations},
                inner_product<T>(backend_), backend_, execution_.observer)) {
      iterations = std::max(iterations, outcome.iterations);
    }
    Resident<float> corrected(backend_, count, beta.cols);
    backend_.copy_rows(MatrixView<const float>(beta), positions, corrected.view(), {});
    Resident<double> step(backend_, count, beta.cols);
    backend_.copy(readable(x), step.view());
    backend_.copy(readable(corrected), wide.view());
    backend_.combine(std::vector<Term<double>>{{.x = wide.view()}, {.x = step.view()}}, wide.view());
    backend_.copy(readable(wide), corrected.view());
    if (zero_diagonal)
      backend_.set_entries(corrected.view(), systems, std::vector<double>(systems.size(), 0.0));
    checked = check_with_residuals(systems, zero_diagonal, corrected.view());
    std::vector<std::int32_t> improved;
    std::vector<std::int32_t> improved_at;
    bool better = false;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int32_t position = positions[k];
      if (!(checked.columns[k].excess < result[position].excess)) continue;
      better = better || checked.columns[k].excess < 0.5 * result[position].excess;
      result[position] = checked.columns[k];
      improved.push_back(static_cast<std::int32_t>(k));
      improved_at.push_back(position);
    }
    backend_.copy_rows(readable(corrected), improved, beta, improved_at);
    open = std::move(positions);
    if (!better) break;
  }
  return result;
}

template class ColumnSolver<float>;
template class ColumnSolver<double>;

}  // namespace poise
