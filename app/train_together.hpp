#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "poise/train/cost.hpp"
#include "poise/train/trainer.hpp"

#include "command.hpp"

namespace poise::app {

/// Whether all processes take part in `poise train`, as far as the command line says: in models with
/// neighbours, low-rank and dense full-rank ones. What a config file says is not known yet.
bool train_by_all(const std::vector<std::string>& arguments);

/// Whether several processes train this model together: its rows (low rank), its columns (neighbours), or,
/// where there is a grid, parts of items x items (dense full rank).
bool is_shared(const ModelParameters& parameters, const Processes& processes);

/// The cost of a dense model for each of the processes that share it.
TrainingCost cost_of_each(TrainingCost cost, CsrView X, const Weights& W, const Processes& processes);

/// Trains the model, by all processes where they share it. With neighbours the others have none in the end; a
/// shared dense model has a part of itself in each process (SpreadFullRank).
Trained train_together(const ModelParameters& parameters, const LoadedDataset& data, CsrView X,
                       const Weights& W, const std::filesystem::path& folder,
                       const std::filesystem::path& checkpoint, Backend& backend, const Context& context);

}  // namespace poise::app
