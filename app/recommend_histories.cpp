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

/// Entries of a history: items and, where the log has them, their values.
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

}  // namespace

RecommendHistories one_history(const std::vector<std::string>& ids, const ItemIndex& index,
                               std::int64_t items) {
  Entries history;
  history.reserve(ids.size());
  for (const std::string& id : ids) history.emplace_back(index.at(id), 1.0F);
  RecommendHistories result;
  result.histories.cols = items;
  append_row(result.histories, history, false);
  return result;
}

RecommendHistories read_histories(const std::filesystem::path& log, const LogFlags& flags,
                                  const ItemIndex& index, std::int64_t items, const Context& context) {
  const LogOptions options = flags.options({log});
  if (options.format == LogFormat::pro_sg) {
    fail(ErrorKind::input, "{} is a folder of the pro-sg layout; --histories takes a log of user,item rows",
         log.string());
  }
  Interactions interactions = read_log({log}, options, context.execution);
  context.say(fmt::format("{} read as {}", log.string(), interactions.reading));
  const auto count = [&](std::int64_t number, std::string_view what) {
    if (number > 0) context.say(fmt::format("{}: {} {}", log.string(), grouped(number), what));
  };
  count(interactions.skipped_lines, "bad lines skipped");
  count(interactions.empty_ids, "rows dropped: no user or no item id");
  count(interactions.below_threshold, "rows dropped: value not above the threshold");
  const Histories by_user = group_by_user(interactions, context.execution);
  std::vector<std::optional<std::int32_t>> number(interactions.items.size());
  for (std::int64_t i = 0; i < interactions.items.size(); ++i) number[i] = index.find(interactions.items[i]);

  RecommendHistories result;
  result.batch = true;
  result.histories.cols = items;
  Entries history;
  std::int64_t unknown = 0;
  std::int64_t without = 0;
  for (std::int64_t u = 0; u < by_user.users(); ++u) {
    history.clear();
    for (std::int64_t e = by_user.first[u]; e < by_user.last[u]; ++e) {
      if (const auto item = number[by_user.item[e]])
        history.emplace_back(*item, by_user.value.empty() ? 1.0F : by_user.value[e]);
    }
    unknown += static_cast<std::int64_t>(by_user.user(u).size() - history.size());
    without += static_cast<std::int64_t>(history.empty());
    append_row(result.histories, history, !by_user.value.empty());
  }
  result.users = std::move(interactions.users);
  if (unknown > 0) {
    context.say(
        fmt::format("{}: {} entries skipped: the model does not know their items; {} users have no other",
                    log.string(), grouped(unknown), grouped(without)));
  }
  return result;
}

}  // namespace poise::app
