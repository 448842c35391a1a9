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
  bool batch = false;  ///< a log of many users, by their ids, or one user without a name
  Ids users;           ///< of a batch, one id per row
};

/// One history; Error{input} for an id that the model does not know. `items`: of the model.
RecommendHistories one_history(const std::vector<std::string>& ids, const ItemIndex& index,
                               std::int64_t items);

/// The history of every user of a log, read as `prepare` would read it, values and threshold included. Items
/// that the model does not know are passed over, and counted in a message.
RecommendHistories read_histories(const std::filesystem::path& log, const LogFlags& flags,
                                  const ItemIndex& index, std::int64_t items, const Context& context);

}  // namespace poise::app
