#include "recommend_histories.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/data/histories.hpp"
#include "poise/data/log_reader.hpp"

namespace poise::app {

namespace {

/// Entries of a history: items and, if the log has them, their values.
using Entries = std::vector<std::pair<std::int32_t, float>>;

/// `values`: whether to keep the entries' values.
void append_row(Csr& histories, Entries& entries, bool values) {
  std::ranges::sort(entries, {}, &Entries::value_type::first);
  const auto same_item = [](const auto& a, const auto& b) { return a.first == b.first; };
  entries.erase(std::unique(entries.begin(), entries.end(), same_item), entries.end());
  for (const auto& [item, value] : entries) {
    histories.indices.push_back(item);
    if (values) histories.values.push_back(value);
  }
  histories.offsets.push_back(histories.entries());
  ++histories.rows;
}

/// Moves the marked rows out of a log; both keep all users and items.
Interactions take_low_rows(Interactions& log) {
  Interactions low;
  low.users = log.users;
  low.items = log.items;
  std::int64_t kept = 0;
  for (std::int64_t row = 0; row < std::ssize(log.low); ++row) {
    if (log.low[row] != 0) {
      low.user.push_back(log.user[row]);
      low.item.push_back(log.item[row]);
      continue;
    }
    log.user[kept] = log.user[row];
    log.item[kept] = log.item[row];
    log.value[kept++] = log.value[row];
  }
  if (low.rows() == 0) return low;
  log.user.resize(kept);
  log.item.resize(kept);
  log.value.resize(kept);
  return low;
}

}  // namespace

RecommendHistories one_history(const std::vector<std::int32_t>& history, std::int64_t items) {
  Entries entries;
  entries.reserve(history.size());
  for (const std::int32_t item : history) entries.emplace_back(item, 1.0F);
  RecommendHistories result;
  result.histories.cols = items;
  append_row(result.histories, entries, false);
  return result;
}

RecommendHistories read_histories(const std::filesystem::path& log, const LogFlags& flags,
                                  const ItemIndex& index, std::int64_t items, const Context& context) {
  LogOptions options = flags.options({log});
  options.keep_low = options.keep_above.has_value();
  if (options.format == LogFormat::pro_sg) {
    fail(ErrorKind::input, "{} is a folder of the pro-sg layout; --histories takes a log of user,item rows",
         log.string());
  }
  Interactions interactions = read_log({log}, options, context.execution);
  context.say(fmt::format("{} read as {}", log.string(), with_names(interactions.reading, flag_name)));
  const auto count = [&](std::int64_t number, std::string_view what) {
    if (number > 0) context.say(fmt::format("{}: {} {}", log.string(), grouped(number), what));
  };
  count(interactions.skipped_lines, "bad lines skipped");
  count(interactions.empty_ids, "rows dropped: no user or no item id");
  count(interactions.below_threshold,
        "rows with a value not above the threshold: their items count as seen, not as liked");
  if (!options.keep_above) hint_about_values(interactions, context);
  const Histories low = group_by_user(take_low_rows(interactions), context.execution);
  const Histories by_user = group_by_user(interactions, context.execution);
  std::vector<std::optional<std::int32_t>> number(interactions.items.size());
  for (std::int64_t i = 0; i < interactions.items.size(); ++i) number[i] = index.find(interactions.items[i]);

  RecommendHistories result;
  result.batch = true;
  result.histories.cols = result.seen.cols = items;
  Entries entries;
  std::int64_t unknown = 0;
  const auto append = [&](const Histories& from, std::int64_t u, bool values, Csr& to) {
    entries.clear();
    for (std::int64_t e = from.first[u]; e < from.last[u]; ++e) {
      if (const auto item = number[from.item[e]]) entries.emplace_back(*item, values ? from.value[e] : 1.0F);
    }
    unknown += static_cast<std::int64_t>(from.user(u).size() - entries.size());
    append_row(to, entries, values);
  };
  for (std::int64_t u = 0; u < by_user.users(); ++u) {
    append(by_user, u, !by_user.value.empty(), result.histories);
    append(low, u, false, result.seen);
  }
  result.users = std::move(interactions.users);
  count(unknown, "entries skipped: the model does not know their items");
  return result;
}

}  // namespace poise::app
