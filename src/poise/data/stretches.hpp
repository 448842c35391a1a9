#pragma once

#include <cstdint>
#include <vector>

#include "poise/data/split.hpp"

namespace poise {

/// The part of a split to which a row of the log belongs. The history of a part's users is what they have in
/// the parts before it.
enum class Stretch : std::uint8_t { training, validation, test, behind };
using Stretches = std::vector<Stretch>;

/// The data of a log whose rows are each in one part. Users of the held-out parts need as many items in their
/// history as training users need; others are counted, as are items that the catalogue lacks.
Dataset split_by(const Interactions& log, const Stretches& stretches, bool validation, SplitKind split,
                 const Filters& filters, const Execution& execution);

}  // namespace poise
