#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/model/scorer.hpp"

namespace poise {

/// Scores all users of `histories` through a backend, in blocks of thousands, and ranks there: calls
/// body(row, items, scores) with the k best items of each user but those in the same row of `excluded`.
/// Bodies run on several threads at once. The backend's memory holds one block of scores (at most 2^27, or
/// those of 64 users) beside what the scorer holds. Progress is reported as `task`, in users. Error{input}
/// when the histories are not over `items` items.
void for_each_ranked_user(BackendScorer& scorer, std::int64_t items, CsrView histories, CsrView excluded,
                          std::int64_t k, std::string_view task, Backend& backend, const Execution& execution,
                          const std::function<void(std::int64_t row, std::span<const std::int32_t> items,
                                                   std::span<const float> scores)>& body);

/// The scorer on a backend that is not ordinary memory; null for any other, for none, and where the model
/// gains nothing: then it scores on the processor.
std::unique_ptr<BackendScorer> off_host(const Scorer& scorer, Backend* backend, const Execution& execution);

}  // namespace poise
