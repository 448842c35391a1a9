#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/model/scorer.hpp"

namespace poise {

/// Users, a row of histories each, and what is ranked for them: the k best items but those left out.
struct UsersToRank {
  CsrView histories;
  /// What is left out for rows [first, first + count), ascending; `room` may be used to hold it.
  std::function<CsrView(std::int64_t first, std::int64_t count, Csr& room)> excluded;
  std::int64_t k;
};

/// Scores and ranks in blocks of users: calls body(row, items, scores) with the best items of each. Bodies
/// run on several threads at once. Where `elsewhere` is given, it scores blocks of thousands in the memory of
/// `backend` (at most 2^27 scores, or those of 64 users) and only lists come back; else the scorer does, 64
/// users at a time on each thread. Both rank by Backend::top_k. Progress is reported as `task`, in users.
/// Error{input} when the histories are not over the scorer's items.
void for_each_ranked_user(const Scorer& scorer, BackendScorer* elsewhere, Backend* backend,
                          const UsersToRank& users, std::string_view task, const Execution& execution,
                          const std::function<void(std::int64_t row, std::span<const std::int32_t> items,
                                                   std::span<const float> scores)>& body);

/// The scorer on a backend with memory of its own; null for any other, for none, and where the model gains
/// nothing: then it scores on the processor.
std::unique_ptr<BackendScorer> off_host(const Scorer& scorer, Backend* backend, const Execution& execution);

}  // namespace poise
