#include "poise/model/full_rank_columns.hpp"

#include <algorithm>
#include <cmath>

#include "poise/linalg/vector.hpp"
#include "poise/solver/block_residual.hpp"
#include "poise/solver/certificate.hpp"
#include "poise/solver/column_system.hpp"
#include "poise/solver/pcg.hpp"

namespace poise {

namespace {

constexpr int max_iterations = 1000;
constexpr int max_corrections = 8;
/// The solver aims well below the tolerance: the check, which sees rounding too, then passes, and an
/// iteration or two more than the proof needs keep items that nearly tie in their exact order.
constexpr double margin = 1e-3;

}  // namespace

template <class T>
ColumnSolver<T>::ColumnSolver(const ColumnProblem& problem, MatrixView<const T> A_inverse, double tolerance,
                              Backend& backend, const Execution& execution)
    : problem_(problem),
      A_inverse_(A_inverse),
      tolerance_(tolerance),
      backend_(backend),
      execution_(execution),
      users_of_(weighted_transpose(problem)),
      observed_(problem.items(), 0.0) {
  for (std::int64_t i = 0; i < problem.items(); ++i) {
    for (const float weight : users_of_.view().row_values(i)) observed_[i] += weight;
  }
}

template <class T>
int ColumnSolver<T>::solve(std::span<const std::int32_t> items, MatrixView<T> h,
                           std::vector<double>& worst) const {
  ColumnSystem<T> H(problem_, false, backend_);
  ColumnPreconditioner<T> A_inverse(A_inverse_, false, backend_);
  // From h = A^-1 e_i, for which A h = e_i: r = e_i - H h is minus the correction, sparse work.
  Matrix<T> r(h.rows, h.cols);
  Matrix<T> Ah(h.rows, h.cols);
  for (std::int64_t k = 0; k < h.rows; ++k) {
    std::copy_n(A_inverse_.row(items[k]).data(), h.cols, h.row(k).data());  // A^-1 is symmetric
    Ah(k, items[k]) = 1;
  }
  H.apply(items, h, Ah.view(), r.view());
  for (std::int64_t k = 0; k < h.rows; ++k) {
    for (T& entry : r.row(k)) entry = -entry;
    r(k, items[k]) += 1;
  }
  Ah = {};

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
    const double z_i = state.z;
    const double scale = problem_.lo(i) * b;
    const auto ratio = [&](double excess, double objective) {
      return excess <= 0 ? 0 : excess / std::max(observed_[i] - objective, 1e-6 * observed_[i]);
    };
    const double off_diagonal = state.rz - z_i * z_i / static_cast<double>(A_inverse_(i, i));
    const double larger = std::max(ratio(l * l * state.rz / scale, l - l * l * h_ii / b),
                                   ratio(b * b / (h_ii * h_ii) * off_diagonal / scale, b / h_ii - l));
    if (observed_[i] > 0) ratios[position[i]].push_back(larger);
    return larger <= margin * tolerance_;
  };
  const std::vector<PcgOutcome> outcomes = pcg<T>(H, A_inverse, {items.begin(), items.end()}, h, r.view(),
                                                  solved, max_iterations, backend_, execution_.observer);
  int most = 0;
  for (const PcgOutcome& outcome : outcomes) most = std::max(most, outcome.iterations);
  for (const std::vector<double>& of_column : ratios) {
    if (worst.size() < of_column.size()) worst.resize(of_column.size(), 0.0);
    for (std::size_t k = 0; k < of_column.size(); ++k) worst[k] = std::max(worst[k], of_column[k]);
  }
  return most;
}

template <class T>
void ColumnSolver<T>::to_column(std::int32_t i, bool zero_diagonal, std::span<const T> h,
                                std::span<float> beta) const {
  const double factor = zero_diagonal ? 1 / static_cast<double>(h[i]) : problem_.l[i] / problem_.W->b_of(i);
  for (std::size_t j = 0; j < h.size(); ++j)
    beta[j] = static_cast<float>(-factor * static_cast<double>(h[j]));
  if (zero_diagonal) {
    beta[i] = 0;
    return;
  }
  // 1 - l_i h_ii cancels where l_i is large; the same number is a sum over the item's users without
  // cancellation.
  double diagonal = 0;
  const auto users = users_of_.view().row(i);
  const auto weights = users_of_.view().row_values(i);
  for (std::size_t k = 0; k < users.size(); ++k) {
    double score = 0;
    for (const std::int32_t j : problem_.X.row(users[k])) score += static_cast<double>(h[j]);
    diagonal += static_cast<double>(weights[k]) * score;
  }
  beta[i] = static_cast<float>(diagonal / problem_.W->b_of(i));
}

template <class T>
void ColumnSolver<T>::start_for_target(std::span<const std::int32_t> items, MatrixView<float> beta) const {
  Matrix<double> c(beta.rows, beta.cols);  // the residual of beta = 0
  std::vector<ColumnFigures> figures(items.size());
  for (std::int64_t k = 0; k < beta.rows; ++k) std::fill(beta.row(k).begin(), beta.row(k).end(), 0.0F);
  column_residuals(problem_, items, beta, c.view(), figures, execution_);
  Matrix<T> r(beta.rows, beta.cols);
  Matrix<T> z(beta.rows, beta.cols);
  for (std::int64_t k = 0; k < beta.rows; ++k) {
    for (std::int64_t j = 0; j < beta.cols; ++j)
      r(k, j) = static_cast<T>(c(k, j) / problem_.W->b_of(items[k]));
  }
  ColumnPreconditioner<T>(A_inverse_, false, backend_).apply(items, r.view(), z.view());
  for (std::int64_t k = 0; k < beta.rows; ++k) {
    for (std::int64_t j = 0; j < beta.cols; ++j) beta(k, j) = static_cast<float>(z(k, j));
  }
}

template <class T>
typename ColumnSolver<T>::Checked ColumnSolver<T>::check_with_residuals(std::span<const std::int32_t> items,
                                                                        bool zero_diagonal,
                                                                        MatrixView<const float> beta) const {
  Checked checked{std::vector<CheckedColumn>(items.size()), Matrix<double>(beta.rows, beta.cols)};
  std::vector<ColumnFigures> figures(items.size());
  residuals(items, beta, checked.rho.view(), figures);
  Matrix<T> r(beta.rows, beta.cols);
  Matrix<T> z(beta.rows, beta.cols);
  for (std::int64_t k = 0; k < beta.rows; ++k) {
    if (zero_diagonal) checked.rho(k, items[k]) = 0;
    for (std::int64_t j = 0; j < beta.cols; ++j) r(k, j) = static_cast<T>(checked.rho(k, j));
  }
  ColumnPreconditioner<T>(A_inverse_, zero_diagonal, backend_).apply(items, r.view(), z.view());
  for (std::int64_t k = 0; k < beta.rows; ++k) {
    const std::int32_t i = items[k];
    const std::span<const double> rho = checked.rho.row(k);
    const std::span<const T> z_row = z.row(k);
    CheckedColumn& column = checked.columns[k];
    column.figures = figures[k];
    column.excess = std::max(0.0, dot(rho, z_row)) / (problem_.lo(i) * problem_.W->b_of(i));
    column.slope = dot(rho, beta.row(k));
    column.ratio = column_ratio(column.excess, column.figures.observed, column.figures.objective);
  }
  return checked;
}

template <class T>
void ColumnSolver<T>::residuals(std::span<const std::int32_t> items, MatrixView<const float> beta,
                                MatrixView<double> rho, std::span<ColumnFigures> figures) const {
  // Where float32 was enough to solve, it is enough to check.
  if (std::is_same_v<T, float> && problem_.target_is_X) {
    block_residuals(problem_, users_of_.view(), items, beta, rho, figures, backend_, execution_);
  } else {
    column_residuals(problem_, items, beta, rho, figures, execution_);
  }
}

template <class T>
void ColumnSolver<T>::figures(std::span<const std::int32_t> items, MatrixView<const float> beta,
                              std::span<ColumnFigures> figures) const {
  residuals(items, beta, {}, figures);
}

template <class T>
void ColumnSolver<T>::stationary_figures(std::span<const std::int32_t> items, MatrixView<const float> beta,
                                         std::span<ColumnFigures> figures) const {
  std::vector<double> explained(items.size());
  explained_by(problem_, users_of_.view(), items, beta, explained, execution_);
  for (std::size_t k = 0; k < items.size(); ++k) {
    figures[k] = {.observed = observed_[items[k]], .objective = observed_[items[k]] - explained[k]};
  }
}

template <class T>
std::vector<CheckedColumn> ColumnSolver<T>::check(std::span<const std::int32_t> items, bool zero_diagonal,
                                                  MatrixView<const float> beta) const {
  return check_with_residuals(items, zero_diagonal, beta).columns;
}

template <class T>
std::vector<CheckedColumn> ColumnSolver<T>::check_and_correct(std::span<const std::int32_t> items,
                                                              bool zero_diagonal, MatrixView<float> beta,
                                                              int& iterations) const {
  Checked checked = check_with_residuals(items, zero_diagonal, beta);
  std::vector<CheckedColumn> result = checked.columns;
  ColumnSystem<T> H(problem_, zero_diagonal, backend_);
  ColumnPreconditioner<T> A_inverse(A_inverse_, zero_diagonal, backend_);
  // Positions in `items` that miss the tolerance; rows of `checked` belong to them.
  std::vector<std::int32_t> open(items.size());
  for (std::size_t k = 0; k < open.size(); ++k) open[k] = static_cast<std::int32_t>(k);
  for (int correction = 0; correction < max_corrections; ++correction) {
    std::vector<std::int32_t> missing;
    std::vector<std::int32_t> systems;
    for (std::size_t k = 0; k < open.size(); ++k) {
      if (checked.columns[k].ratio <= tolerance_) continue;
      missing.push_back(static_cast<std::int32_t>(k));
      systems.push_back(items[open[k]]);
    }
    if (missing.empty()) break;
    const auto count = static_cast<std::int64_t>(missing.size());
    Matrix<T> r(count, beta.cols);
    Matrix<T> x(count, beta.cols);
    std::vector<double> goal(problem_.items(), 0.0);
    for (std::int64_t k = 0; k < count; ++k) {
      const CheckedColumn& column = checked.columns[missing[k]];
      const double b = problem_.W->b_of(systems[k]);
      for (std::int64_t j = 0; j < beta.cols; ++j) r(k, j) = static_cast<T>(checked.rho(missing[k], j) / b);
      goal[systems[k]] =
          margin * tolerance_ * (column.figures.observed - column.figures.objective + column.excess);
    }
    const auto solved = [&](const PcgState& state) {
      const std::int32_t i = state.system;
      return problem_.W->b_of(i) * state.rz / problem_.lo(i) <= goal[i];
    };
    for (const PcgOutcome& outcome : pcg<T>(H, A_inverse, systems, x.view(), r.view(), solved, max_iterations,
                                            backend_, execution_.observer)) {
      iterations = std::max(iterations, outcome.iterations);
    }
    Matrix<float> corrected(count, beta.cols);
    for (std::int64_t k = 0; k < count; ++k) {
      const auto before = beta.row(open[missing[k]]);
      for (std::int64_t j = 0; j < beta.cols; ++j) {
        corrected(k, j) = static_cast<float>(static_cast<double>(before[j]) + static_cast<double>(x(k, j)));
      }
      if (zero_diagonal) corrected(k, systems[k]) = 0;
    }
    checked = check_with_residuals(systems, zero_diagonal, corrected.view());
    std::vector<std::int32_t> still_open;
    bool better = false;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int32_t position = open[missing[k]];
      still_open.push_back(position);
      if (!(checked.columns[k].excess < result[position].excess)) continue;
      better = better || checked.columns[k].excess < 0.5 * result[position].excess;
      result[position] = checked.columns[k];
      std::copy_n(corrected.row(k).data(), beta.cols, beta.row(position).data());
    }
    open = std::move(still_open);
    if (!better) break;
  }
  return result;
}

template class ColumnSolver<float>;
template class ColumnSolver<double>;

}  // namespace poise
