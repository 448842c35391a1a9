#pragma once

#include "poise/data/merge.hpp"

namespace poise {

/// Gives items of the merged data that have no features those of a table, as far as the data know them, and
/// adds items that nobody has; the features get the columns of the whole catalogue. Error{usage} where the
/// data have no features.
void describe_items(const FeatureTable& table, Merged& merged);

}  // namespace poise
