#include "poise/model/full_rank/inverse.hpp"

#include <algorithm>
#include <cmath>

#include "poise/backend/power_start.hpp"
#include "poise/linalg/precision.hpp"
#include "poise/linalg/vector.hpp"

namespace poise {

namespace {

/// G in the place of A^-1, with features; if gathers are slow by way of the basis, which keeps it for
/// residuals.
template <class T>
void fill_gram(const ColumnProblem& problem, FullRankBasis& basis, Backend& backend,
               const Execution& execution, Out<T> to) {
  if (backend.traits().cheap_gathers) {
    backend.gram(problem.X, problem.W->a, to);
    problem.features.add_gram(to, backend, execution);
    return;
  }
  Resident<double>& G = basis.gram();
  if (G.rows() != to.rows) {
    G = Resident<double>(backend, to.rows, to.rows);
    backend.gram(problem.X, problem.W->a, G.view());
    problem.features.add_gram(G.view(), backend, execution);
  }
  backend.copy(In<double>(G.view()), to);
}

/// The largest eigenvalue of a symmetric positive definite matrix from below, by power iteration.
template <class Apply>
double largest_eigenvalue(std::int64_t n, const Apply& apply) {
  constexpr int most_iterations = 20;
  constexpr double settled = 1e-2;
  Matrix<double> x(n, 1);
  std::ranges::copy(power_start(n), x.view().data);
  double value = 0;
  for (int k = 0; k < most_iterations; ++k) {
    Matrix<double> y = apply(x);
    const std::span<const double> entries(y.view().data, n);
    const double norm = std::sqrt(dot(entries, entries));
    if (!(norm > 0)) return norm;
    for (std::int64_t i = 0; i < n; ++i) x(i, 0) = y(i, 0) / norm;
    if (std::abs(norm - value) <= settled * norm) return norm;
    value = norm;
  }
  return value;
}

}  // namespace

template <class T>
double condition_of(const SharedSystem& A, const InverseOperator<T>& A_inverse, double enough) {
  const std::int64_t n = A.problem().items();
  if (n == 0) return 0;
  double least = A.least(0);
  for (std::int64_t i = 1; i < n; ++i) least = std::min(least, A.least(i));
  const double norm = largest_eigenvalue(n, [&](const Matrix<double>& x) {
    Matrix<double> y = A.background(x);
    for (std::int64_t i = 0; i < n; ++i) y(i, 0) += A.least(i) * x(i, 0);
    return y;
  });
  if (norm / least <= enough) return norm / least;
  return norm * largest_eigenvalue(n, [&](const Matrix<double>& x) {
           Matrix<T> rounded(n, 1);
           for (std::int64_t i = 0; i < n; ++i) rounded(i, 0) = static_cast<T>(x(i, 0));
           const Matrix<T> product = A_inverse.times(rounded);
           Matrix<double> y(n, 1);
           for (std::int64_t i = 0; i < n; ++i) y(i, 0) = static_cast<double>(product(i, 0));
           return y;
         });
}

template <class T>
bool invert_shared_system(const ColumnProblem& problem, FullRankBasis& basis, Backend& backend,
                          const Execution& execution, Stopwatch& watch, double& condition) {
  std::optional<SpdInverse>& outcome = basis.inverse<T>().outcome;
  Resident<T>& inverse = basis.inverse<T>().matrix;
  const std::int64_t n = problem.items();
  const auto good = [&] {
    return outcome->positive_definite &&
           (!std::is_same_v<T, float> || outcome->condition <= float32_condition);
  };
  if (!outcome || (good() && inverse.rows() != n)) {
    inverse = Resident<T>(backend, n, n);
    fill_gram(problem, basis, backend, execution, inverse.view());
    const std::vector<std::int32_t> all = numbers_from(0, n);
    std::vector<double> diagonal(n);
    backend.get_entries(In<T>(inverse.view()), all, all, diagonal);
    for (std::int64_t i = 0; i < n; ++i) diagonal[i] += problem.l[i] / problem.b_bar;
    backend.set_entries(inverse.view(), all, diagonal);
    watch.book("gram");
    outcome = backend.invert_spd(inverse.view());
    watch.book("inverse");
  }
  condition = outcome->condition;
  if (!good()) inverse = {};
  return good();
}

template double condition_of<float>(const SharedSystem&, const InverseOperator<float>&, double);
template double condition_of<double>(const SharedSystem&, const InverseOperator<double>&, double);
template bool invert_shared_system<float>(const ColumnProblem&, FullRankBasis&, Backend&, const Execution&,
                                          Stopwatch&, double&);
template bool invert_shared_system<double>(const ColumnProblem&, FullRankBasis&, Backend&, const Execution&,
                                           Stopwatch&, double&);

}  // namespace poise
