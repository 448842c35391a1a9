#include "poise/model/full_rank/columns.hpp"

#include <algorithm>

#include "poise/linalg/vector.hpp"
#include "poise/solver/column_system.hpp"
#include "poise/solver/pcg.hpp"

namespace poise {

namespace {

constexpr int max_iterations = 1000;
constexpr int max_corrections = 8;
/// The solver's own tolerance is well below the certified one: the check, which includes rounding, then
/// passes, and one or two more iterations than the proof needs keep items that nearly tie in exact order.
constexpr double margin = 1e-2;
/// The largest, for any requested tolerance: larger errors would change rankings.
constexpr double loosest_aim = 1e-6;
/// If all columns are iterated (on a GPU, by several processes), problems of few items are solved further: it
/// takes almost no time, and metrics that are means over few users show every hit. So are solves that go on
/// from earlier ones: a hundred of them add up to the usual margin.
constexpr double small_margin = 1e-4;
constexpr std::int64_t small_items = 8192;

}  // namespace

template <class T>
ColumnSolver<T>::ColumnSolver(const ColumnChecker<T>& checker, double tolerance, bool all_iterated,
                              bool continued)
    : checker_(checker),
      problem_(checker.data().problem()),
      A_inverse_(checker.A_inverse()),
      diagonal_(checker.inverse_diagonal()),
      backend_(checker.data().backend()),
      tolerance_(tolerance),
      aim_(std::min(loosest_aim,
                    tolerance * (continued || (all_iterated && problem_.items() <= small_items) ? small_margin
                                                                                                : margin))) {}

template <class T>
int ColumnSolver<T>::solve(std::span<const std::int32_t> items, Out<T> h, std::vector<double>& worst) const {
  ColumnSystem<T> H(problem_, false, backend_);
  // From h = A^-1 e_i, for which A h = e_i: r = e_i - H h is minus the correction, sparse work.
  Resident<T> r(backend_, h.rows, h.cols);
  {
    Resident<T> Ah(backend_, h.rows, h.cols);
    backend_.set_entries(Ah.view(), items, std::vector<double>(items.size(), 1.0));
    A_inverse_.copy_rows(items, h);
    H.apply({items, h, Ah.view()}, r.view());
    backend_.combine(std::vector<Term<T>>{{.x = Ah.view()}, {.x = r.view(), .scale = -1}}, r.view());
  }
  return solve_from(items, h, r.view(), worst);
}

template <class T>
int ColumnSolver<T>::solve_from(std::span<const std::int32_t> items, Out<T> h, Out<T> r,
                                std::vector<double>& worst) const {
  ColumnSystem<T> H(problem_, false, backend_);
  ColumnPreconditioner<T> A_inverse(A_inverse_, diagonal_, false, backend_);
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
      return excess <= 0 ? 0
                         : excess / std::max(checker_.data().observed()[i] - objective,
                                             1e-6 * checker_.data().observed()[i]);
    };
    const double off_diagonal = state.rz - state.z * state.z / diagonal_[i];
    const double larger = std::max(ratio(l * l * state.rz / scale, l - l * l * h_ii / b),
                                   ratio(b * b / (h_ii * h_ii) * off_diagonal / scale, b / h_ii - l));
    if (checker_.data().observed()[i] > 0) ratios[position[i]].push_back(larger);
    return larger <= aim_;
  };
  const std::vector<PcgOutcome> outcomes =
      pcg<T>(H, A_inverse, {items.begin(), items.end()}, h, r, {solved, max_iterations},
             inner_product<T>(backend_), backend_, checker_.data().execution().observer);
  int most = 0;
  for (const PcgOutcome& outcome : outcomes) most = std::max(most, outcome.iterations);
  for (const std::vector<double>& of_column : ratios) {
    if (worst.size() < of_column.size()) worst.resize(of_column.size(), 0.0);
    for (std::size_t k = 0; k < of_column.size(); ++k) worst[k] = std::max(worst[k], of_column[k]);
  }
  return most;
}

template <class T>
void ColumnSolver<T>::to_columns(std::span<const std::int32_t> items, bool zero_diagonal, In<T> h,
                                 Out<float> beta) const {
  std::vector<double> factor(items.size());
  std::vector<double> diagonal(items.size(), 0.0);
  if (zero_diagonal) {
    backend_.get_entries(h, {}, items, factor);
    for (double& f : factor) f = -1 / f;
  } else {
    // 1 - l_i h_ii cancels where l_i is large; the same number is a sum over the item's users and features
    // without cancellation.
    diagonal = checker_.data().forms(items, h);
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
void ColumnSolver<T>::to_rows(std::span<const std::int32_t> items, bool zero_diagonal, In<T> h,
                              Out<T> rows) const {
  std::vector<double> factors(problem_.items());
  for (std::int64_t i = 0; i < problem_.items(); ++i)
    factors[i] = zero_diagonal ? -1 / diagonal_[i] : -problem_.l[i] / problem_.W->b_of(i);
  std::vector<double> diagonal(items.size(), 0.0);
  if (!zero_diagonal) diagonal = checker_.data().forms(items, h);
  backend_.combine(std::vector<Term<T>>{{.x = h, .cols = factors}}, rows);
  backend_.set_entries(rows, items, diagonal);
}

template <class T>
std::vector<double> ColumnSolver<T>::multipliers(std::span<const std::int32_t> items, In<T> h) const {
  std::vector<double> result(items.size());
  backend_.get_entries(h, {}, items, result);
  for (std::size_t k = 0; k < items.size(); ++k)
    result[k] = problem_.W->b_of(items[k]) / result[k] - problem_.l[items[k]];
  return result;
}

template <class T>
void ColumnSolver<T>::start_for_target(std::span<const std::int32_t> items, Out<float> beta) const {
  Resident<double> c(backend_, beta.rows, beta.cols);  // the residual of beta = 0
  std::vector<ColumnFigures> figures(items.size());
  backend_.combine(std::span<const Term<float>>(), beta);
  checker_.residuals(items, beta, c.view(), figures);
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
std::vector<CheckedColumn> ColumnSolver<T>::check_and_correct(std::span<const std::int32_t> items,
                                                              bool zero_diagonal, Out<float> beta,
                                                              int& iterations) const {
  auto checked = checker_.check(items, zero_diagonal, beta);
  std::vector<CheckedColumn> result = checked.columns;
  ColumnSystem<T> H(problem_, zero_diagonal, backend_);
  ColumnPreconditioner<T> A_inverse(A_inverse_, diagonal_, zero_diagonal, backend_);
  // Positions in `items` that miss the tolerance; rows of `checked` belong to them.
  std::vector<std::int32_t> open = numbers_from(0, std::ssize(items));
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
                inner_product<T>(backend_), backend_, checker_.data().execution().observer)) {
      iterations = std::max(iterations, outcome.iterations);
    }
    Resident<float> corrected(backend_, count, beta.cols);
    backend_.copy_rows(In<float>(beta), positions, corrected.view(), {});
    Resident<double> step(backend_, count, beta.cols);
    backend_.copy(readable(x), step.view());
    backend_.copy(readable(corrected), wide.view());
    backend_.combine(std::vector<Term<double>>{{.x = wide.view()}, {.x = step.view()}}, wide.view());
    backend_.copy(readable(wide), corrected.view());
    if (zero_diagonal)
      backend_.set_entries(corrected.view(), systems, std::vector<double>(systems.size(), 0.0));
    checked = checker_.check(systems, zero_diagonal, corrected.view());
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
