#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/comm/processes.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/model/neighbours/checkpoint.hpp"
#include "poise/model/neighbours/column_ridge.hpp"
#include "poise/model/neighbours/earlier.hpp"
#include "poise/model/neighbours/problem.hpp"
#include "poise/solver/certificate.hpp"

namespace poise {

struct NeighbourFit {
  std::vector<NeighbourSolution> solutions;  ///< in the order of the numbers of neighbours
  std::int64_t resumed = 0;                  ///< columns that a checkpoint had
  std::int64_t taken = 0;                    ///< columns of the earlier model
  std::map<std::string, double> seconds;     ///< by phase
};

/// What a fit takes beyond X.
struct NeighbourMemory {
  double bytes = 0;
  std::int64_t block = 1;   ///< columns that are worked on at a time
  std::int64_t blocks = 1;  ///< how many times that are all
};

/// G on the supports of a block takes at most a few times what the model does, and no more than the limit
/// leaves, but room for 1 024 columns at the least. No bit of the result depends on it. Of the options the
/// limit and the features are read.
NeighbourMemory neighbour_memory(CsrView X, const Weights& W, std::int64_t k, int models,
                                 const FullRankOptions& options);

/// The models with these numbers of neighbours (ascending, each at least 1; more than there are items is all
/// of them), which share the support of the largest, and its factorizations: the factor of a leading block is
/// the leading block of the factor, bit for bit. Columns are solved by blocks of `block`; with a checkpoint,
/// for a single model, they are taken from it and go to it as they are finished. Several processes, which all
/// call it, solve a part of the columns each; the first one, which alone has the checkpoint, returns all of
/// them, with the bytes of one process. A single model may go on from an earlier one; the bytes are the same
/// without it.
NeighbourFit fit_neighbours(const NeighbourProblem& problem, std::span<const std::int64_t> neighbours,
                            std::int64_t block, const Execution& execution,
                            const NeighbourCheckpoint* checkpoint = nullptr, Processes* processes = nullptr,
                            const EarlierColumns* earlier = nullptr);

/// A saved model with this many neighbours, and what the data say of its columns.
struct NeighbourCheck {
  NeighbourSolution solution;
  std::int64_t elsewhere = 0;  ///< columns with entries outside of their supports; their excess is infinite
};

/// Checks B, by rows, whoever made it: supports, systems and factors are made from the data, as a fit makes
/// them, and each column is measured as it was saved. It costs what a fit does.
NeighbourCheck check_neighbours(const NeighbourProblem& problem, CsrView B, std::int64_t neighbours,
                                std::int64_t block, const Execution& execution);

/// The certificate of a model on its own support, where every column is verified.
Certificate support_certificate(std::span<const NeighbourFigures> figures);

}  // namespace poise
