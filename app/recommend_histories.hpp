#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "poise/data/ids.hpp"
#include "poise/linalg/csr.hpp"

#include "command.hpp"
#include "item_index.hpp"
#include "log_flags.hpp"

namespace poise::app {

/// Whom to recommend to: what each of them has already, as rows over the model's items.
struct RecommendHistories {
  Csr histories;
  Csr seen;            ///< of a batch: items met without being liked (not above the threshold), likewise
  bool batch = false;  ///< a log of many users, by their ids, or one user without a name
  Ids users;           ///< of a batch, one id per row
};

/// One history of these items, in any order and perhaps repeated; `items`: of the model.
RecommendHistories one_history(const std::vector<std::int32_t>& history, std::int64_t items);

/// The history of every user of a log, read as `prepare` would read it, values and threshold included; what
/// is not above the threshold is no part of a history, but has been seen. Items that the model does not know
/// are passed over, and counted in a message.
RecommendHistories read_histories(const std::filesystem::path& log, const LogFlags& flags,
                                  const ItemIndex& index, std::int64_t items, const Context& context);

}  // namespace poise::app
