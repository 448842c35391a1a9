#pragma once

#include <cstdint>
#include <vector>

#include "poise/model/fit_context.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/model/parameters.hpp"
#include "poise/model/trained.hpp"
#include "poise/solver/column_share.hpp"

namespace poise {

FullRankOptions full_rank_options(const ModelParameters& parameters, std::uint64_t memory_limit);

/// The models of one solve that the options ask for, unconstrained first.
std::vector<Trained> train_full_rank(const FullRankOptions& options, const Weights& W, FitContext& context);

/// One model by all processes of the share, which all call it (spread_fit.hpp); its class is SpreadFullRank.
Trained train_full_rank_spread(const FullRankOptions& options, const Weights& W, const ColumnShare& share,
                               DenseGrid& grid, FitContext& context);

}  // namespace poise
