#include "poise/model/neighbours/certify.hpp"

#include "poise/model/neighbours/compare.hpp"
#include "poise/model/neighbours/fit.hpp"
#include "poise/model/neighbours/train.hpp"

namespace poise {

FullRankCheck certify_neighbours(CsrView X, const Weights& W, const FullRankOptions& options,
                                 std::int64_t neighbours, CsrView B, const Execution& execution) {
  validate(options);
  check_neighbours_memory(options, neighbours, X, W);
  const NeighbourProblem problem = make_neighbour_problem(X, W, options, execution.threads);
  constexpr int models = 2;  // by columns, and by their supports
  const std::int64_t block = neighbour_memory(X, W, neighbours, models, options).block;
  const NeighbourCheck checked = check_neighbours(problem, B, neighbours, block, execution);
  FullRankCheck result;
  result.certificate = support_certificate(checked.solution.figures);
  for (const NeighbourFigures& column : checked.solution.figures) {
    result.observed_weight += column.observed;
    result.objective += column.observed - column.explained;
    const double ratio = column_ratio(column.excess, column.observed, column.observed - column.explained);
    result.missing += ratio <= options.tolerance ? 0 : 1;
  }
  result.converged = result.missing == 0;
  if (checked.elsewhere == 0) compare_with_dense(problem, checked.solution, execution, result.certificate);
  return result;
}

}  // namespace poise
