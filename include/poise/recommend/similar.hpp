#pragma once

#include <cstdint>

#include "poise/linalg/ranked_lists.hpp"
#include "poise/model/scorer.hpp"

namespace poise {

/// The k items most similar to `item`, without itself, as one list: by similarity descending, then index
/// ascending. For a full-rank model these are the largest entries of the item's row of B, the scores for a
/// history of this item alone; for matrix factorization the nearest by cosine. Error{usage} for k < 1 or a
/// model that does not use the history, Error{input} for an item that the model does not know.
RankedLists similar(const Scorer& scorer, std::int32_t item, std::int64_t k);

}  // namespace poise
