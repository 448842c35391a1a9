#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
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
  std::optional<Indices> only = std::nullopt;  ///< nothing else is ranked; ascending
};

/// A scorer on a backend, where it scores and ranks blocks of users; only lists come back.
class Ranker {
 public:
  /// Without a backend on the processor. Scorer and backend must outlive it.
  Ranker(const Scorer& scorer, Backend* backend, const Execution& execution);

  /// Calls body(row, items, scores) with the best items of each user. Bodies run on several threads at once.
  /// A block is at most 2^23 scores, on a GPU 2^27, but at least 64 users. Progress is reported as `task`, in
  /// users. Error{input} when the histories are not over the scorer's items.
  void rank(const UsersToRank& users, std::string_view task,
            const std::function<void(std::int64_t row, std::span<const std::int32_t> items,
                                     std::span<const float> scores)>& body);

 private:
  const Scorer& scorer_;
  Execution execution_;
  std::unique_ptr<Backend> processor_;
  Backend& backend_;
  ScoreRows score_;
};

}  // namespace poise
