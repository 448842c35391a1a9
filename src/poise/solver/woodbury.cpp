#include "poise/solver/woodbury.hpp"

#include <algorithm>
#include <vector>

#include <lapacke.h>

#include "poise/backend/resident.hpp"
#include "poise/linalg/serial_blas.hpp"
#include "poise/linalg/vector.hpp"

namespace poise {

namespace {

/// Costs of one step, in operations of a matrix product: moving single numbers, adding rows from memory,
/// adding rows in cache, operations of a small factorization.
constexpr double move_cost = 100;
constexpr double row_cost = 25;
constexpr double cached_cost = 10;
constexpr double factor_cost = 2;

/// The users of the item's column with C != 0, and their weights.
struct Users {
  std::vector<std::int32_t> rows;
  std::vector<float> weights;
};

Users users_of(const ColumnProblem& problem, std::int32_t item) {
  const CsrView columns = problem.columns.view();
  const auto rows = columns.row(item);
  const auto weights = columns.row_values(item);
  Users users;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (weights[k] == 0) continue;
    users.rows.push_back(rows[k]);
    users.weights.push_back(weights[k]);
  }
  return users;
}

/// Users whose entries are transposed at a time: one cache line of them.
constexpr std::int64_t transposed_users = 16;

/// One triangle of K = diag(1 / c) + Y A^-1 Y'. The users' entries of T are transposed once for the items
/// they have, so that K's columns are sums of contiguous rows.
template <class Number>
std::vector<Number> make_K(const ColumnProblem& problem, const Users& users, MatrixView<const Number> T) {
  const auto count = static_cast<std::int64_t>(users.rows.size());
  std::vector<std::int32_t> place(problem.items(), -1);
  std::vector<std::int32_t> items;
  for (const std::int32_t u : users.rows) {
    for (const std::int32_t j : problem.X.row(u)) {
      if (place[j] >= 0) continue;
      place[j] = static_cast<std::int32_t>(items.size());
      items.push_back(j);
    }
  }
  auto entries = Matrix<Number>::uninitialized(static_cast<std::int64_t>(items.size()), count);
  for (std::int64_t first = 0; first < count; first += transposed_users) {
    const std::int64_t last = std::min(count, first + transposed_users);
    const Number* rows[transposed_users];
    for (std::int64_t u = first; u < last; ++u) rows[u - first] = T.row(users.rows[u]).data();
    for (std::size_t d = 0; d < items.size(); ++d) {
      Number* const to = &entries(static_cast<std::int64_t>(d), first);
      for (std::int64_t u = 0; u < last - first; ++u) to[u] = rows[u][items[d]];
    }
  }
  std::vector<Number> K(count * count, Number{0});
  for (std::int64_t v = 0; v < count; ++v) {
    Number* const column = K.data() + v * count;
    for (const std::int32_t j : problem.X.row(users.rows[v])) {
      const Number* const row = &entries(place[j], 0);
      for (std::int64_t u = v; u < count; ++u) column[u] += row[u];
    }
    column[v] += 1 / static_cast<Number>(users.weights[v]);
  }
  return K;
}

lapack_int solve_definite(lapack_int n, float* K, float* y) {
  return LAPACKE_sposv_work(LAPACK_COL_MAJOR, 'L', n, 1, K, n, y, n);
}
lapack_int solve_definite(lapack_int n, double* K, double* y) {
  return LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', n, 1, K, n, y, n);
}
lapack_int solve_symmetric(lapack_int n, float* K, lapack_int* pivots, float* y, float* work,
                           lapack_int size) {
  return LAPACKE_ssysv_work(LAPACK_COL_MAJOR, 'L', n, 1, K, n, pivots, y, n, work, size);
}
lapack_int solve_symmetric(lapack_int n, double* K, lapack_int* pivots, double* y, double* work,
                           lapack_int size) {
  return LAPACKE_dsysv_work(LAPACK_COL_MAJOR, 'L', n, 1, K, n, pivots, y, n, work, size);
}

/// Solves K y = y in place; false if K is singular.
template <class Number>
bool solve_K(std::vector<Number>& K, const Users& users, std::vector<Number>& y) {
  const auto count = static_cast<lapack_int>(y.size());
  const bool positive =
      std::all_of(users.weights.begin(), users.weights.end(), [](float c) { return c > 0; });
  if (positive) return solve_definite(count, K.data(), y.data()) == 0;
  std::vector<lapack_int> pivots(y.size());
  const lapack_int size = 64 * count;
  std::vector<Number> work(size);
  return solve_symmetric(count, K.data(), pivots.data(), y.data(), work.data(), size) == 0;
}

}  // namespace

template <class T>
ScoresOfInverse<T>::ScoresOfInverse(CsrView X, In<T> A_inverse, Backend& backend)
    : data_(std::make_unique_for_overwrite<T[]>(X.rows * X.cols)) {
  const MatrixView<T> scores{data_.get(), X.rows, X.cols, X.cols};
  X.values = {};
  Borrowed<T> there(backend, scores);
  backend.spmm(X, A_inverse, there.view());
  there.give_back();
  view_ = scores;
}

template <class Number>
std::vector<char> Woodbury<Number>::solve(std::span<const std::int32_t> items, MatrixView<Number> h,
                                          const Execution& execution) const {
  const SerialBlas serial;
  const Tiling tiling{static_cast<std::int64_t>(items.size()), 16};
  std::vector<char> solved(items.size());
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    stop_if_asked(execution.observer);
    for (std::int64_t k = tiling.first(tile); k < tiling.last(tile); ++k)
      solved[k] = solve(items[k], h.row(k)) ? 1 : 0;
  });
  return solved;
}

template <class Number>
bool Woodbury<Number>::solve(std::int32_t item, std::span<Number> h) const {
  const auto start = A_inverse_.row(item);
  std::copy(start.begin(), start.end(), h.begin());
  const Users users = users_of(problem_, item);
  if (users.rows.empty()) return true;
  std::vector<Number> K = make_K(problem_, users, T_);
  std::vector<Number> y;
  for (const std::int32_t u : users.rows) y.push_back(T_(u, item));
  if (!solve_K(K, users, y)) return false;
  for (std::size_t u = 0; u < y.size(); ++u) add_scaled(-y[u], T_.row(users.rows[u]), h);
  return true;
}

double woodbury_operations(const ColumnLoad& load, std::int64_t items) {
  const double count = load.users;
  const auto n = static_cast<double>(items);
  return move_cost * count * std::min(n, load.entries) + row_cost * count * n +
         cached_cost * count * load.entries / 2 + factor_cost * count * count * count / 3;
}

template class ScoresOfInverse<float>;
template class ScoresOfInverse<double>;
template class Woodbury<float>;
template class Woodbury<double>;

}  // namespace poise
