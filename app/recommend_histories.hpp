#pragma once

#include <filesystem>
#include <vector>

#include "poise/data/ids.hpp"
#include "poise/data/item_index.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/recommend/user_histories.hpp"

#include "command.hpp"
#include "log_flags.hpp"

namespace poise::app {

/// The users to recommend to: the items that each already has or dislikes, as rows over the model's items.
struct RecommendHistories {
  Csr histories;
  Csr disliked;  ///< in the same form; no rows: nothing
  Csr seen;  ///< of a batch: items that were seen but not liked (not above the threshold), in the same form
  bool batch = false;  ///< a log of many users with their ids; else one user without an id
  Ids users;           ///< of a batch, one id per row
};

/// One history of these items, in any order and perhaps repeated; `items`: of the model.
RecommendHistories one_history(const std::vector<std::int32_t>& history,
                               const std::vector<std::int32_t>& disliked, std::int64_t items);

/// The histories of every user of a log, as `prepare` reads it, over the log's own items.
UserHistories read_user_histories(const std::filesystem::path& log, const LogFlags& flags,
                                  const Context& context);

/// The history of every user of a log, read as `prepare` reads it, values and threshold included. Rows that
/// are not above the threshold are not part of a history, but count as seen or, below --dislike-below, as
/// disliked. Items that the model does not
/// know are skipped and counted in a message.
RecommendHistories read_histories(const std::filesystem::path& log, const LogFlags& flags,
                                  const ItemIndex& index, std::int64_t items, const Context& context);

}  // namespace poise::app
