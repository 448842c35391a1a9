#include "poise/recommend/user_histories.hpp"

#include <algorithm>

namespace poise {
namespace {

std::int64_t append_known(CsrView from, std::int64_t row, const ModelItem& model_item, Csr& to) {
  HistoryEntries entries;
  const auto items = from.row(row);
  const auto values = from.row_values(row);
  for (std::size_t e = 0; e < items.size(); ++e) {
    if (const auto item = model_item(items[e]))
      entries.emplace_back(*item, values.empty() ? 1.0F : values[e]);
  }
  const auto unknown = static_cast<std::int64_t>(items.size() - entries.size());
  append_history(to, entries, values.empty() ? EntryValues::dropped : EntryValues::kept);
  return unknown;
}

}  // namespace

void append_history(Csr& histories, HistoryEntries& entries, EntryValues values) {
  std::ranges::stable_sort(entries, {}, &HistoryEntries::value_type::first);
  const auto same_item = [](const auto& a, const auto& b) { return a.first == b.first; };
  entries.erase(std::unique(entries.begin(), entries.end(), same_item), entries.end());
  for (const auto& [item, value] : entries) {
    histories.indices.push_back(item);
    if (values == EntryValues::kept) histories.values.push_back(value);
  }
  histories.offsets.push_back(histories.entries());
  ++histories.rows;
}

std::int64_t append_user(const UserHistories& from, std::int64_t user, const ModelItem& model_item,
                         Csr& liked, Csr& disliked, Csr& seen) {
  std::int64_t unknown = append_known(from.liked.view(), user, model_item, liked);
  for (const auto& [rows, to] : {std::pair(&from.disliked, &disliked), {&from.seen, &seen}}) {
    if (rows->rows > 0) {
      unknown += append_known(rows->view(), user, model_item, *to);
    } else {
      HistoryEntries none;
      append_history(*to, none, EntryValues::dropped);
    }
  }
  return unknown;
}

}  // namespace poise
