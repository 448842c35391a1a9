#include "recommend_histories.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/data/histories.hpp"
#include "poise/data/log_reader.hpp"

#include "input_files.hpp"

namespace poise::app {

namespace {

/// Moves the rows with this mark out of a log; both keep all users and items.
Interactions take_marked_rows(Interactions& log, std::uint8_t mark) {
  Interactions taken;
  taken.users = log.users;
  taken.items = log.items;
  std::int64_t kept = 0;
  for (std::int64_t row = 0; row < std::ssize(log.low); ++row) {
    if (log.low[row] == mark) {
      taken.user.push_back(log.user[row]);
      taken.item.push_back(log.item[row]);
      continue;
    }
    log.user[kept] = log.user[row];
    log.item[kept] = log.item[row];
    log.low[kept] = log.low[row];
    log.value[kept++] = log.value[row];
  }
  if (taken.rows() == 0) return taken;
  log.user.resize(kept);
  log.item.resize(kept);
  log.low.resize(kept);
  log.value.resize(kept);
  return taken;
}

/// A log by user as rows of compressed storage; items keep the log's numbers.
Csr rows_of(const Histories& log) {
  Csr result;
  result.cols = log.items;
  HistoryEntries entries;
  for (std::int64_t u = 0; u < log.users(); ++u) {
    entries.clear();
    for (std::int64_t e = log.first[u]; e < log.last[u]; ++e)
      entries.emplace_back(log.item[e], log.value.empty() ? 1.0F : log.value[e]);
    append_history(result, entries, log.value.empty() ? EntryValues::dropped : EntryValues::kept);
  }
  return result;
}

}  // namespace

RecommendHistories one_history(const std::vector<std::int32_t>& history,
                               const std::vector<std::int32_t>& disliked, std::int64_t items) {
  const auto row_of = [&](const std::vector<std::int32_t>& listed) {
    HistoryEntries entries;
    entries.reserve(listed.size());
    for (const std::int32_t item : listed) entries.emplace_back(item, 1.0F);
    Csr row;
    row.cols = items;
    append_history(row, entries, EntryValues::dropped);
    return row;
  };
  RecommendHistories result;
  result.histories = row_of(history);
  result.disliked = row_of(disliked);
  return result;
}

UserHistories read_user_histories(const std::filesystem::path& log, const LogFlags& flags,
                                  const Context& context) {
  LogOptions options = flags.options({log});
  options.keep_low = true;
  if (options.format == LogFormat::pro_sg) {
    fail(ErrorKind::input, "{} is a folder of the pro-sg layout; --histories takes a log of user,item rows",
         log.string());
  }
  Interactions interactions = read_log({log}, options, context.execution);
  context.say(fmt::format("{} read as {}", shown_inputs({log}), with_names(interactions.reading, flag_name)));
  const auto count = [&](std::int64_t number, std::string_view what) {
    if (number > 0) context.say(fmt::format("{}: {} {}", log.string(), grouped(number), what));
  };
  count(interactions.skipped_lines, "bad lines skipped");
  count(interactions.empty_ids, "rows dropped: no user or no item id");
  count(interactions.below_threshold,
        "rows with a value not above the threshold: their items count as seen, not as liked");
  count(interactions.disliked_rows, "rows are dislikes");
  if (!interactions.keep_above && !options.dislike_below) hint_about_values(interactions, context);
  Csr disliked =
      rows_of(group_by_user(take_marked_rows(interactions, Interactions::disliked), context.execution));
  const Csr seen = rows_of(group_by_user(take_marked_rows(interactions, 1), context.execution));
  Csr liked = rows_of(group_by_user(interactions, context.execution));
  return {.users = std::move(interactions.users),
          .items = std::move(interactions.items),
          .liked = std::move(liked),
          .disliked = std::move(disliked),
          .seen = seen};
}

RecommendHistories read_histories(const std::filesystem::path& log, const LogFlags& flags,
                                  const ItemIndex& index, std::int64_t items, const Context& context) {
  UserHistories histories = read_user_histories(log, flags, context);
  std::vector<std::optional<std::int32_t>> number(histories.items.size());
  for (std::int64_t i = 0; i < histories.items.size(); ++i) number[i] = index.find(histories.items[i]);

  RecommendHistories result;
  result.batch = true;
  result.histories.cols = result.disliked.cols = result.seen.cols = items;
  std::int64_t unknown = 0;
  for (std::int64_t u = 0; u < histories.users.size(); ++u)
    unknown += append_user(
        histories, u, [&](std::int32_t item) { return number[item]; }, result.histories, result.disliked,
        result.seen);
  result.users = std::move(histories.users);
  if (unknown > 0)
    context.say(fmt::format("{}: {} entries skipped: the model does not know their items", log.string(),
                            grouped(unknown)));
  return result;
}

}  // namespace poise::app
