#pragma once

#include <optional>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset.hpp"
#include "poise/model/parameters.hpp"
#include "poise/model/scorer.hpp"

namespace poise {

/// nDCG@100 on the validation part; none if there is no such part.
std::optional<double> validation_ndcg(const Scorer& model, const Dataset& dataset,
                                      const Execution& execution);

/// What the report of a trained model says of the validation part: of models with neighbours how they rank,
/// which a share of the dense optimum does not say. None for others, and where it would take more than some
/// ten seconds, for which there is evaluate().
std::optional<double> reported_ndcg(const ModelParameters& parameters, const Scorer& model,
                                    const Dataset& dataset, const Execution& execution);

}  // namespace poise
