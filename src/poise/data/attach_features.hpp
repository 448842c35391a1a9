#pragma once

#include "poise/data/dataset.hpp"

namespace poise {

/// Gives the data the features of its items. Items of the table that the catalogue lacks are counted, and
/// features that no item of the catalogue has are left out.
void attach_features(Dataset& dataset, const FeatureTable& table);

/// The features of other data, for data with some of their items. Their counts stay.
void carry_features(const Dataset& from, Dataset& to);

/// The ids of items that have a feature.
Ids items_with_features(const Dataset& dataset);
Ids items_with_features(const FeatureTable& table);

/// How many items have no training row.
std::int64_t cold_items(const Dataset& dataset);

}  // namespace poise
