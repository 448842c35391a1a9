#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "poise/data/feature_builder.hpp"
#include "poise/data/item_index.hpp"

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

/// The features that data have, by their names.
struct KnownFeatures {
  explicit KnownFeatures(const Ids& all) : names(all), index(all) {}
  const Ids& names;
  ItemIndex index;
};

/// The same for items that come later: a text or number has the known feature of its name, another number
/// that of the range with the largest least number up to it (or of the first range); else it names a new one.
void add_further_column(const std::string& name, const std::vector<FeatureCell>& cells,
                        const KnownFeatures& known, FeatureBuilder& builder);

}  // namespace poise
