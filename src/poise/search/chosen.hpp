#pragma once

#include <filesystem>

#include "poise/search/points.hpp"

namespace poise {

/// If a search's validation part was made of training rows: the data before that, and their folder. They must
/// outlive it.
struct AllRows {
  const LoadedDataset* data = nullptr;  ///< null: the search uses all data
  std::filesystem::path folder = {};
};

/// A chosen point, trained, and its figures on the held-out parts; none for a part without targets.
struct Chosen {
  Trained trained;
  Estimates validation;
  Estimates test;
};

/// Trains a point on the data of the search and measures it there. With `all_rows` the model and its test
/// figures come from all training rows, with the chosen lambda, and the validation figures from the point
/// trained without the validation part.
Chosen train_chosen(const ModelParameters& parameters, Points& points, const AllRows& all_rows,
                    const Execution& execution);

}  // namespace poise
