#include "poise/solver/woodbury.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <lapacke.h>

#include "poise/backend/cpu/serial_blas.hpp"
#include "poise/linalg/vector.hpp"

namespace poise {

namespace {

/// What one step costs against one operation of a matrix product: moves of single numbers, adding rows that
/// come from memory, adding rows that stay in cache, operations of a small factorization.
constexpr double move_cost = 100;
constexpr double row_cost = 25;
constexpr double cached_cost = 10;
constexpr double factor_cost = 2;

/// The users of the item's column that C touches, with their weights.
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

/// K = diag(1 / c) + Y A^-1 Y', one triangle. The users' entries of T are transposed once for the items they
/// have, so that K's columns are sums of contiguous rows.
std::vector<float> make_K(const ColumnProblem& problem, const Users& users, MatrixView<const float> T) {
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
  Matrix<float> entries(static_cast<std::int64_t>(items.size()), count);
  for (std::int64_t u = 0; u < count; ++u) {
    const auto row = T.row(users.rows[u]);
    for (std::size_t d = 0; d < items.size(); ++d) entries(static_cast<std::int64_t>(d), u) = row[items[d]];
  }
  std::vector<float> K(count * count, 0.0F);
  for (std::int64_t v = 0; v < count; ++v) {
    float* const column = K.data() + v * count;
    for (const std::int32_t j : problem.X.row(users.rows[v])) {
      const float* const row = &entries(place[j], 0);
      for (std::int64_t u = v; u < count; ++u) column[u] += row[u];
    }
    column[v] += 1 / users.weights[v];
  }
  return K;
}

/// Solves K y = y in place; false when K is singular.
bool solve_K(std::vector<float>& K, const Users& users, std::vector<float>& y) {
  const auto count = static_cast<lapack_int>(y.size());
  const bool positive =
      std::all_of(users.weights.begin(), users.weights.end(), [](float c) { return c > 0; });
  if (positive)
    return LAPACKE_sposv_work(LAPACK_COL_MAJOR, 'L', count, 1, K.data(), count, y.data(), count) == 0;
  std::vector<lapack_int> pivots(y.size());
  const lapack_int size = 64 * count;
  std::vector<float> work(size);
  return LAPACKE_ssysv_work(LAPACK_COL_MAJOR, 'L', count, 1, K.data(), count, pivots.data(), y.data(), count,
                            work.data(), size) == 0;
}

}  // namespace

ScoresOfInverse::ScoresOfInverse(CsrView X, MatrixView<const float> A_inverse, Backend& backend)
    : data_(std::make_unique_for_overwrite<float[]>(X.rows * X.cols)) {
  const MatrixView<float> T{data_.get(), X.rows, X.cols, X.cols};
  X.values = {};
  backend.spmm(X, A_inverse, T);
  view_ = T;
}

void Woodbury::solve(std::span<const std::int32_t> items, const Execution& execution,
                     const std::function<void(std::int64_t k, std::span<const float> h)>& take) const {
  const SerialBlas serial;
  const Tiling tiling{static_cast<std::int64_t>(items.size()), 16};
  Progress progress(execution.observer, "solving items with few users", items.size(), "columns");
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    std::vector<float> h(problem_.items());
    for (std::int64_t k = tiling.first(tile); k < tiling.last(tile); ++k) {
      take(k, solve(items[k], h) ? std::span<const float>(h) : std::span<const float>());
    }
    progress.advance(tiling.last(tile) - tiling.first(tile));
  });
}

bool Woodbury::solve(std::int32_t item, std::span<float> h) const {
  const auto start = A_inverse_.row(item);
  std::copy(start.begin(), start.end(), h.begin());
  const Users users = users_of(problem_, item);
  if (users.rows.empty()) return true;
  std::vector<float> K = make_K(problem_, users, T_);
  std::vector<float> y;
  for (const std::int32_t u : users.rows) y.push_back(T_(u, item));
  if (!solve_K(K, users, y)) return false;
  for (std::size_t u = 0; u < y.size(); ++u) add_scaled(-y[u], T_.row(users.rows[u]), h);
  return true;
}

double Woodbury::operations(const ColumnProblem& problem, std::int32_t item) {
  const auto users = problem.columns.view().row(item);
  const auto count = static_cast<double>(users.size());
  const auto n = static_cast<double>(problem.items());
  double entries = 0;
  for (const std::int32_t u : users) entries += static_cast<double>(problem.X.row_size(u));
  return move_cost * count * std::min(n, entries) + row_cost * count * n + cached_cost * count * entries / 2 +
         factor_cost * count * count * count / 3;
}

}  // namespace poise
