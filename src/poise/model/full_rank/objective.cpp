#include "poise/linalg/vector.hpp"
#include "poise/model/full_rank/cost.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/solver/block_residual.hpp"

namespace poise {

double full_rank_objective(CsrView X, const Weights& W, const FullRankOptions& options, CsrView B,
                           Backend& backend, const Execution& execution) {
  ColumnProblem problem = make_column_problem(X, W, full_rank_lambda(X, options), nullptr, execution.threads);
  set_features(problem, options.features, options.feature_weight);
  const WeightedTranspose users_of = weighted_transpose(problem, execution.threads);
  const Csr columns = transpose(B);
  double objective = 0;
  const std::vector<std::int32_t> all = numbers_from(0, X.cols);
  for_each_block(all, full_rank_block, execution, "measuring", [&](std::span<const std::int32_t> items) {
    Matrix<float> beta(static_cast<std::int64_t>(items.size()), X.cols);
    for (std::size_t k = 0; k < items.size(); ++k) {
      const auto rows = columns.view().row(items[k]);
      const auto values = columns.view().row_values(items[k]);
      for (std::size_t e = 0; e < rows.size(); ++e) beta(static_cast<std::int64_t>(k), rows[e]) = values[e];
    }
    std::vector<ColumnFigures> figures(items.size());
    block_residuals(problem, users_of.view(), items, beta.view(), {}, figures, backend, execution);
    for (const ColumnFigures& column : figures) objective += column.objective;
  });
  return objective;
}

}  // namespace poise
