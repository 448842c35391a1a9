#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "poise/model/full_rank/fit.hpp"
#include "poise/solver/column_problem.hpp"
#include "poise/weighting/fold_in.hpp"

namespace poise {

/// Columns that are solved and checked together.
constexpr std::int64_t full_rank_block = 512;

/// The same for each of several processes: narrower where the blocks that conjugate gradients hold would be
/// more than a seventh of the process' part of A^-1 and B, but wide enough that products with panels of A^-1
/// take longer than bringing them.
std::int64_t spread_block(std::int64_t items, int processes);

/// Calls body with the items `width` at a time.
template <class Body>
void for_each_block(std::span<const std::int32_t> items, std::int64_t width, const Execution& execution,
                    std::string_view task, const Body& body) {
  const Tiling tiling{std::ssize(items), width};
  Progress progress(execution.observer, task, items.size(), "columns");
  for (std::int64_t block = 0; block < tiling.tiles(); ++block) {
    const std::int64_t count = tiling.last(block) - tiling.first(block);
    body(items.subspan(tiling.first(block), count));
    progress.advance(count);
  }
}

/// The range of an l_i: beyond it float32 can hold neither A nor B.
constexpr double least_lambda = 1e-30;
constexpr double most_lambda = 1e30;

/// Lambda's diagonal, l_i = lambda (|S_i| / g)^nu + p / (1 - p) |S_i|: FullRankOptions. One pass over X
/// unless nu and p are 0. Error{usage} if a power leaves the range of an l_i.
std::vector<double> full_rank_lambda(CsrView X, const FullRankOptions& options);
/// The same from counts, g over the items of the reference.
std::vector<double> full_rank_lambda(const TrainingCounts& counts, const FullRankOptions& options);

/// The cost of A^-1.
constexpr double inverse_operations(std::int64_t items) {
  constexpr double overhead = 1.15;
  const auto n = static_cast<double>(items);
  return overhead * n * n * n;
}

/// The cost of conjugate gradients for item i and its check, in operations of a matrix product.
double iteration_operations(const ColumnProblem& problem, std::int32_t i, const ColumnLoad& load,
                            double tolerance);

/// Woodbury's identity needs a constant b, X as the target, and the memory for T and both
/// models, so that a fit of one model takes the same route.
bool woodbury_possible(const ColumnProblem& problem, std::uint64_t memory_limit, bool float64);

/// Whether the objective is measured through all data, column by column: where that takes little beside an
/// inverse.
bool measured_whole(const ColumnProblem& problem, const FullRankOptions& options);
/// Whether that takes a fraction of a second.
bool measured_in_a_moment(const ColumnProblem& problem);

/// Matrices of items x items in float32 that a fit holds on a GPU: A^-1, the models, G in float64, which is
/// two, and one more while products split A^-1 (or for A^-1 in float64, which is not split); without weights
/// the last model takes the place of A^-1.
constexpr int gpu_matrices(bool weighted, int solutions) { return (weighted ? 4 : 3) + solutions; }

/// Of blocks of columns, at the least.
std::uint64_t gpu_block_bytes(std::int64_t items);

/// Error{resources}, which says how many items would fit, if these do not.
void check_full_rank_gpu_memory(CsrView X, const Weights& W, const FullRankOptions& options,
                                std::uint64_t gpu_memory);

}  // namespace poise
