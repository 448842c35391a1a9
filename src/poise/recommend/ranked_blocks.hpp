#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/base/pool.hpp"
#include "poise/model/scorer.hpp"
#include "poise/recommend/recommend.hpp"

namespace poise {

/// Users, one row of histories each, and the items to rank for them: the k best except those left out.
struct UsersToRank {
  UserRows histories;
  /// The items left out for rows [first, first + count), ascending; `room` may hold them.
  std::function<CsrView(std::int64_t first, std::int64_t count, Csr& room)> excluded;
  std::int64_t k;
  std::optional<Indices> only = std::nullopt;  ///< only these are ranked; ascending
  bool whole_rows = false;                     ///< the scores of all items come back too
};

/// The list of one user.
struct RankedUser {
  std::int64_t row;
  std::span<const std::int32_t> items;  ///< best first
  std::span<const float> scores;
  std::span<const float> all_scores;  ///< of every item, if asked for
};

/// Scores and ranks blocks of users; only lists come back, unless whole rows are asked for. On a GPU a block
/// is large and the whole device works on it. On the processor each thread works on a block of its own, so
/// that threads do not wait for each other.
class Ranker {
 public:
  /// Runs on the processor unless the backend has memory of its own. Scorer and backend must outlive it.
  Ranker(const Scorer& scorer, Backend* backend, const Execution& execution);
  Ranker(Ranker&& other) noexcept;
  ~Ranker();

  /// Calls body with the best items of each user. Bodies run on several threads at once. A block is at most
  /// 64 users and 2^24 scores for each thread, on a GPU 2^27 scores but at least 64 users. Progress is
  /// reported as `task`, in users. Error{input} when the histories are not over the scorer's items.
  void rank(const UsersToRank& users, std::string_view task,
            const std::function<void(const RankedUser& user)>& body);

 private:
  /// What works on a block: a backend, the model's scores on it, and room for them.
  struct Place;

  const Scorer& scorer_;
  Backend* device_;  ///< null on the processor
  Execution execution_;
  std::unique_ptr<Pool<Place>> places_;
};

/// recommend() with a ranker of this scorer that is kept from call to call; several threads may share it.
RankedLists recommend(Ranker& ranker, const Scorer& scorer, const UserRows& histories,
                      const RecommendOptions& options);

}  // namespace poise
