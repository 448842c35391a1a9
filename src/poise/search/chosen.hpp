#pragma once

#include <filesystem>

#include "poise/search/points.hpp"

namespace poise {

/// Where a search's validation part was made of training rows: the data before that, and their folder. They
/// must outlive it.
struct AllRows {
  const LoadedDataset* data = nullptr;  ///< null: the search's data are all there are
  std::filesystem::path folder = {};
};

/// A chosen point, trained, and its figures on the held-out parts; none of a part without targets.
struct Chosen {
  Trained trained;
  Estimates validation;
  Estimates test;
};

/// Trains a point on the data of the search and measures it there. With `all_rows` the model and its test
/// figures are those of all training rows, with lambda as it was chosen, and the validation figures those of
/// the point trained without the validation part.
Chosen train_chosen(const ModelParameters& parameters, Points& points, const AllRows& all_rows,
                    const Execution& execution);

}  // namespace poise
