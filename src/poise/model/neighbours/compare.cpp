#include "poise/model/neighbours/compare.hpp"

#include "poise/model/neighbours/explained_share.hpp"
#include "poise/model/neighbours/share_proof.hpp"

namespace poise {

void compare_with_dense(const NeighbourProblem& problem, const NeighbourSolution& solution,
                        const Execution& execution, Certificate& certificate) {
  double explained = 0;
  for (const NeighbourFigures& column : solution.figures) explained += column.explained;
  constexpr std::uint64_t seed = 0;
  const ExcessEstimate estimate =
      estimate_excess(problem, solution.columns, solution.figures,
                      sampled_columns(problem.items(), problem.entries()), seed, execution);
  ExplainedShare share{.low = share_of(explained, estimate.high),
                       .high = share_of(explained, estimate.low),
                       .level = estimate.all ? 1 : share_level,
                       .proven = 0,
                       .columns = estimate.columns};
  share.proven = share.low;
  if (!estimate.all) {
    share.proven = share_of(
        explained, prove_excess(problem, solution.columns, solution.figures, estimate.predicted, execution));
    certificate.probability = 1 - certificate_doubt;
  }
  certificate.share = share;
}

}  // namespace poise
