#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/comm/processes.hpp"
#include "poise/model/family.hpp"
#include "poise/model/fit_context.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/model/neighbours/earlier.hpp"
#include "poise/model/trained.hpp"

namespace poise {

/// The full-rank model with this many neighbours a column (at least 1), one of the two diagonals. Several
/// processes, which all call it, share the columns, and the first one returns the model of one process; the
/// others return none. It may go on from an earlier model, and is the same without it.
Trained train_neighbours(const FullRankOptions& options, std::int64_t neighbours, const Weights& W,
                         FitContext& context, Processes* processes = nullptr,
                         const EarlierColumns* earlier = nullptr);

/// The models with these numbers of neighbours (ascending), of one factorization: each has the bits of one
/// that is trained alone. They are to be scored: their certificates are of their supports, without a
/// comparison with the dense optimum. Several that do not fit beside each other are trained one after the
/// other.
std::vector<Trained> train_neighbours_to_score(const FullRankOptions& options,
                                               std::span<const std::int64_t> neighbours, const Weights& W,
                                               FitContext& context);

/// What that takes: a few times the memory of the model and of X, and never items x items.
TrainingCost neighbours_cost(const FullRankOptions& options, std::int64_t neighbours, CsrView X,
                             const Weights& W);

/// Error{resources}, saying what would fit, where that does not.
void check_neighbours_memory(const FullRankOptions& options, std::int64_t neighbours, CsrView X,
                             const Weights& W);

}  // namespace poise
