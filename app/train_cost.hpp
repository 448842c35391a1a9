#pragma once

#include <filesystem>

#include "poise/backend/backend.hpp"
#include "poise/model/parameters.hpp"
#include "poise/train/cost.hpp"
#include "poise/weighting/weights.hpp"

#include "command.hpp"

namespace poise::app {

/// The least number of operations of training, from the data's header: enough to know that a GPU will be
/// used.
double least_operations(const ModelParameters& parameters, const std::filesystem::path& data);

/// Warns of a slow BLAS where that matters, and prints the expected time and memory, before any work. `rate`
/// is that of matrix products, 0 where it is not known yet.
void announce(Backend& backend, const ModelParameters& parameters, CsrView X, const TrainingCost& cost,
              double rate, const Context& context);

/// Where the dense model does not fit: Error{resources} with what one with neighbours would take.
void check_memory_or_suggest(const ModelParameters& parameters, const TrainingInput& on, const Weights& W,
                             const TrainingCost& cost, Backend& backend, const Context& context);

}  // namespace poise::app
