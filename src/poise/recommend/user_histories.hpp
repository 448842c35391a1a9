#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "poise/data/ids.hpp"
#include "poise/linalg/csr.hpp"

namespace poise {

/// The histories of many users, over items of their own numbering: that of a log or of prepared data, which
/// may know other items than a model.
struct UserHistories {
  Ids users;
  Ids items;
  Csr liked;          ///< a row for each user; with values if the log has them
  Csr disliked = {};  ///< in the same form, without values; no rows: nothing
  Csr seen;           ///< what else a user has seen, e.g. rated low: not recommended either; no rows: nothing
};

/// Items of a history and their values.
using HistoryEntries = std::vector<std::pair<std::int32_t, float>>;

enum class EntryValues { dropped, kept };

/// Appends a row of these entries, in any order and perhaps repeated; of a repeated item the first counts.
void append_history(Csr& histories, HistoryEntries& entries, EntryValues values);

/// Item number of a model for one of UserHistories::items; none where the model does not know it.
using ModelItem = std::function<std::optional<std::int32_t>(std::int32_t item)>;

/// Appends the rows of one user, in a model's item numbers. Returns how many entries the model does not know.
std::int64_t append_user(const UserHistories& from, std::int64_t user, const ModelItem& model_item,
                         Csr& liked, Csr& disliked, Csr& seen);

}  // namespace poise
