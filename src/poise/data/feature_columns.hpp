#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "poise/data/feature_builder.hpp"

namespace poise {

/// One cell of a table of items; it is not empty.
struct FeatureCell {
  std::int32_t item;
  std::string text;
};

/// Whether all cells are numbers.
bool are_numbers(const std::vector<FeatureCell>& cells);

/// The features of a column; cells of a column of numbers are finite.
void add_column(const std::string& name, const std::vector<FeatureCell>& cells, FeatureBuilder& builder);

}  // namespace poise
