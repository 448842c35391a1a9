#pragma once

#include <functional>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset.hpp"
#include "poise/data/interactions.hpp"

namespace poise {

/// Marks the rows whose value is below the threshold as dislikes; a log without values has none.
void mark_dislikes(Interactions& log, double below);

/// Moves the rows that are marked as dislikes, and ids that only these have, out of a log, and
/// removes rows marked as low. What is left is the log as it is read without dislikes.
Interactions take_dislikes(Interactions& log);

/// The data that `split` makes of a log without its dislikes, with the dislikes.
Dataset split_with_dislikes(const Interactions& log,
                            const std::function<Dataset(const Interactions& liked)>& split,
                            const Execution& execution);

/// Adds the rows of a log, by ids, as dislikes of training and held-out users. A pair that a part has as an
/// interaction or target stays one, and its dislike is dropped; so is one of an unknown user or item: all are
/// counted. With the split `given` the log belongs to training, so that a target that is disliked there is
/// removed and counted.
void attach_dislikes(Dataset& dataset, const Interactions& log, const Execution& execution);

}  // namespace poise
