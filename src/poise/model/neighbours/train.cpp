#include "poise/model/neighbours/train.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/neighbours/compare.hpp"
#include "poise/model/neighbours/explained_share.hpp"
#include "poise/model/neighbours/fit.hpp"

namespace poise {
namespace {

/// In operations of a matrix product: one that reads or adds to a random place, one of a small factorization,
/// and one with a number of a line of memory that is read whole.
constexpr double gathered = 100;
constexpr double factored = 12;
constexpr double compared_cost = 25;

/// What is known of a model on its own support.
Trained trained_on_support(const NeighbourSolution& solution, const FullRankOptions& options) {
  Trained trained;
  trained.certificate = support_certificate(solution.figures);
  for (const NeighbourFigures& column : solution.figures) {
    trained.observed_weight += column.observed;
    trained.objective += column.observed - column.explained;
  }
  trained.converged = trained.certificate.worst_column <= options.tolerance;
  trained.float64 = true;
  trained.direct_columns = solution.columns.count;
  return trained;
}

}  // namespace

Trained train_neighbours(const FullRankOptions& options, std::int64_t neighbours, const Weights& W,
                         FitContext& context, Processes* processes, const EarlierColumns* earlier) {
  validate(options);
  check_neighbours_memory(options, neighbours, context.X, W);
  std::map<std::string, double> seconds;
  Stopwatch watch(seconds);
  const Execution& execution = context.execution;
  const NeighbourProblem problem = make_neighbour_problem(context.X, W, options, execution.threads);
  watch.book("transpose");
  const std::int64_t block = neighbour_memory(context.X, W, neighbours, 1, options).block;
  std::optional<NeighbourCheckpoint> checkpoint;
  const bool first = processes == nullptr || processes->first();
  if (first && !context.checkpoint.empty()) checkpoint.emplace(context.checkpoint, context.checkpoint_key);
  NeighbourFit fit = fit_neighbours(problem, std::span(&neighbours, 1), block, execution,
                                    checkpoint ? &*checkpoint : nullptr, processes, earlier);
  if (!first) return {};
  NeighbourSolution& solution = fit.solutions.front();
  seconds.merge(fit.seconds);
  Trained trained = trained_on_support(solution, options);
  trained.resumed_columns = fit.resumed + fit.taken;
  watch.book("fit");
  compare_with_dense(problem, solution, execution, trained.certificate);
  watch.book("comparison");
  trained.model = std::make_shared<FullRank>(rows_of(solution.columns));
  watch.book("rows");
  trained.seconds = std::move(seconds);
  return trained;
}

std::vector<Trained> train_neighbours_to_score(const FullRankOptions& options,
                                               std::span<const std::int64_t> neighbours, const Weights& W,
                                               FitContext& context) {
  validate(options);
  check_neighbours_memory(options, neighbours.back(), context.X, W);
  const NeighbourMemory memory =
      neighbour_memory(context.X, W, neighbours.back(), static_cast<int>(neighbours.size()), options);
  std::vector<Trained> models;
  if (neighbours.size() > 1 && memory.bytes > static_cast<double>(options.memory_limit)) {
    for (std::size_t k = 0; k < neighbours.size(); ++k)
      models.push_back(
          std::move(train_neighbours_to_score(options, neighbours.subspan(k, 1), W, context).front()));
    return models;
  }
  const Execution& execution = context.execution;
  const NeighbourProblem problem = make_neighbour_problem(context.X, W, options, execution.threads);
  NeighbourFit fit = fit_neighbours(problem, neighbours, memory.block, execution);
  for (NeighbourSolution& solution : fit.solutions) {
    models.push_back(trained_on_support(solution, options));
    models.back().model = std::make_shared<FullRank>(rows_of(solution.columns));
    solution = {};
  }
  return models;
}

TrainingCost neighbours_cost(const FullRankOptions& options, std::int64_t neighbours, CsrView X,
                             const Weights& W) {
  const auto n = static_cast<double>(X.cols);
  const auto k =
      static_cast<double>(std::min(neighbours, X.cols - static_cast<std::int64_t>(options.zero_diagonal)));
  double pairs = 0;
  for (std::int64_t u = 0; u < X.rows; ++u)
    pairs += static_cast<double>(X.row_size(u)) * static_cast<double>(X.row_size(u));
  std::int64_t entries = X.entries();
  for (std::int64_t f = 0; options.with_features() && f < options.features.rows; ++f) {
    const auto size = static_cast<double>(options.features.row_size(f));
    pairs += size * size;
    entries += options.features.row_size(f);
  }
  const NeighbourMemory memory = neighbour_memory(X, W, neighbours, 1, options);
  // Every row of G for the supports, and for each block; with weights those of the columns' users and errors.
  const double passes = 1 + (W.c.empty() ? 0.0 : 2.0) + static_cast<double>(memory.blocks);
  // Some eight steps of conjugate gradients, twice through X, for each column of the sample and each probe.
  const double compared =
      16 * static_cast<double>(entries) * static_cast<double>(sampled_columns(X.cols, entries) + 32);
  TrainingCost cost;
  cost.gpu = false;
  cost.compared = compared_cost * compared;
  cost.fit = gathered * (2 * passes * pairs + n * k * k / 2) + factored * n * k * k * k / 3 + cost.compared;
  cost.bytes = memory.bytes;
  cost.most_bytes = cost.bytes;
  return cost;
}

void check_neighbours_memory(const FullRankOptions& options, std::int64_t neighbours, CsrView X,
                             const Weights& W) {
  const double needed = neighbours_cost(options, neighbours, X, W).bytes;
  const auto limit = static_cast<double>(options.memory_limit);
  if (needed <= limit) return;
  const auto [needed_text, limit_text] = compared_bytes(needed, limit);
  fail(
      ErrorKind::resources,
      "a full-rank model of {} items with {} neighbours each needs {} and the memory limit is {}; give fewer "
      "{}, or raise {}",
      X.cols, neighbours, needed_text, limit_text, "neighbours"_p, "memory-limit"_p);
}

}  // namespace poise
