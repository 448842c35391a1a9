#include "poise/solver/column_problem.hpp"

#include <utility>

#include "poise/base/parallel.hpp"

namespace poise {

namespace {

constexpr std::int64_t rows_per_tile = 1024;

template <class Body>
void for_each_row(std::int64_t rows, int threads, const Body& body) {
  const Tiling tiling{rows, rows_per_tile};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    for (std::int64_t row = tiling.first(tile); row < tiling.last(tile); ++row) body(row);
  });
}

}  // namespace

ColumnProblem make_column_problem(CsrView X, const Weights& W, std::vector<double> l, const CsrView* target,
                                  int threads) {
  ColumnProblem problem;
  problem.X = X;
  problem.W = &W;
  problem.l = std::move(l);
  problem.Y = target != nullptr ? *target : X;
  problem.target_is_X = target == nullptr;
  if (!W.b.empty()) {
    double sum = 0;
    for (const float b : W.b) sum += std::log(static_cast<double>(b));
    problem.b_bar = std::exp(sum / static_cast<double>(W.b.size()));
  }
  problem.columns.rows = X.cols;
  problem.columns.cols = X.rows;
  problem.columns.offsets.assign(X.cols + 1, 0);
  if (!W.c.empty()) {
    std::vector<float> values(W.c.size());
    for_each_row(X.rows, threads, [&](std::int64_t u) {
      for (std::int64_t k = W.support.offsets[u]; k < W.support.offsets[u + 1]; ++k) {
        values[k] = static_cast<float>(W.a_of(u) * W.c[k]);
      }
    });
    CsrView weighted = W.support;
    weighted.values = values;
    problem.columns = transpose(weighted, threads);
  }
  return problem;
}

Csr weighted_transpose(const ColumnProblem& problem, int threads) {
  const CsrView& support_of_C = problem.W->support;
  if (!problem.W->c.empty() && support_of_C.indices.data() == problem.X.indices.data() &&
      support_of_C.offsets.data() == problem.X.offsets.data()) {
    // The users of X_:i are those of C_:i: W_ui = b_i (a_u + a_u C_ui).
    Csr result = problem.columns;
    for_each_row(result.rows, threads, [&](std::int64_t i) {
      for (std::int64_t k = result.offsets[i]; k < result.offsets[i + 1]; ++k) {
        result.values[k] = static_cast<float>(problem.W->b_of(i) * (problem.W->a_of(result.indices[k]) +
                                                                    static_cast<double>(result.values[k])));
      }
    });
    return result;
  }
  std::vector<float> weights(problem.X.entries());
  for_each_row(problem.X.rows, threads, [&](std::int64_t u) {
    const auto items = problem.X.row(u);
    const std::int64_t first = problem.X.offsets[u];
    for (std::size_t k = 0; k < items.size(); ++k) {
      weights[first + static_cast<std::int64_t>(k)] =
          static_cast<float>(problem.W->a_of(u) * problem.W->b_of(items[k]));
    }
    if (problem.W->c.empty()) return;
    const CsrView& support = problem.W->support;
    const auto touched = support.row(u);
    std::size_t k = 0;
    for (std::size_t e = 0; e < touched.size(); ++e) {  // both rows ascend
      while (k < items.size() && items[k] < touched[e]) ++k;
      if (k == items.size() || items[k] != touched[e]) continue;
      weights[first + static_cast<std::int64_t>(k)] *=
          1 + problem.W->c[support.offsets[u] + static_cast<std::int64_t>(e)];
    }
  });
  CsrView weighted = problem.X;
  weighted.values = weights;
  return transpose(weighted, threads);
}

std::vector<ColumnLoad> column_loads(CsrView X, const Weights& W) {
  std::vector<ColumnLoad> loads(X.cols);
  if (W.c.empty()) return loads;
  for (std::int64_t u = 0; u < X.rows; ++u) {
    const auto size = static_cast<double>(X.row_size(u));
    for (const std::int32_t i : W.support.row(u)) {
      loads[i].users += 1;
      loads[i].entries += size;
    }
  }
  return loads;
}

}  // namespace poise
