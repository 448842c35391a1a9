#pragma once

#include <cstdint>
#include <vector>

#include "poise/model/fit_context.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/model/full_rank/kept_inverse.hpp"
#include "poise/model/full_rank/start.hpp"
#include "poise/model/parameters.hpp"
#include "poise/model/trained.hpp"
#include "poise/solver/column_share.hpp"

namespace poise {

FullRankOptions full_rank_options(const ModelParameters& parameters, std::uint64_t memory_limit);
/// With the features of the items (no rows: none). Error{usage} where they have a weight of their own and
/// there are none, or where the model is one with neighbours, which does not know features.
FullRankOptions full_rank_options(const ModelParameters& parameters, std::uint64_t memory_limit,
                                  CsrView features);

/// The models of one solve that the options ask for, unconstrained first.
std::vector<Trained> train_full_rank(const FullRankOptions& options, const Weights& W, FitContext& context);

/// A model, and what a later update of it needs.
struct TrainedToUpdate {
  Trained trained;
  KeptInverse kept;
  bool good = true;  ///< see FullRankSolution
};
/// One model; unweighted in float32 it takes no more memory than train_full_rank().
TrainedToUpdate train_to_update(const FullRankOptions& options, const Weights& W, FitContext& context);
/// One model from an earlier one, by continue_full_rank(); context.basis has A^-1. `counts` made W and
/// Lambda.
TrainedToUpdate continue_training(const FullRankOptions& options, const Weights& W,
                                  const FullRankStart& start, TrainingCounts counts, FitContext& context);

/// One model by all processes of the share, which all call it (spread_fit.hpp); its class is SpreadFullRank.
Trained train_full_rank_spread(const FullRankOptions& options, const Weights& W, const ColumnShare& share,
                               FitContext& context);

}  // namespace poise
