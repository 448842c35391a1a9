#include "poise/solver/column_problem.hpp"

#include <utility>

namespace poise {

ColumnProblem make_column_problem(CsrView X, const Weights& W, std::vector<double> l, const CsrView* target) {
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
    for (std::int64_t u = 0; u < X.rows; ++u) {
      for (std::int64_t k = W.support.offsets[u]; k < W.support.offsets[u + 1]; ++k) {
        values[k] = static_cast<float>(W.a_of(u) * W.c[k]);
      }
    }
    CsrView weighted = W.support;
    weighted.values = values;
    problem.columns = transpose(weighted);
  }
  return problem;
}

Csr weighted_transpose(const ColumnProblem& problem) {
  std::vector<float> weights(problem.X.entries());
  for (std::int64_t u = 0; u < problem.X.rows; ++u) {
    const auto items = problem.X.row(u);
    const std::int64_t first = problem.X.offsets[u];
    for (std::size_t k = 0; k < items.size(); ++k) {
      weights[first + static_cast<std::int64_t>(k)] =
          static_cast<float>(problem.W->a_of(u) * problem.W->b_of(items[k]));
    }
    if (problem.W->c.empty()) continue;
    const CsrView& support = problem.W->support;
    const auto touched = support.row(u);
    std::size_t k = 0;
    for (std::size_t e = 0; e < touched.size(); ++e) {  // both rows ascend
      while (k < items.size() && items[k] < touched[e]) ++k;
      if (k == items.size() || items[k] != touched[e]) continue;
      weights[first + static_cast<std::int64_t>(k)] *=
          1 + problem.W->c[support.offsets[u] + static_cast<std::int64_t>(e)];
    }
  }
  CsrView weighted = problem.X;
  weighted.values = weights;
  return transpose(weighted);
}

}  // namespace poise
