#include "recommend_histories.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "poise/data/histories.hpp"
#include "poise/data/log_reader.hpp"

namespace poise::app {

namespace {

void append_row(Csr& histories, std::vector<std::int32_t>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  histories.indices.insert(histories.indices.end(), items.begin(), items.end());
  histories.offsets.push_back(histories.entries());
  ++histories.rows;
}

}  // namespace

RecommendHistories one_history(const std::vector<std::string>& ids, const ItemIndex& index,
                               std::int64_t items) {
  std::vector<std::int32_t> history;
  history.reserve(ids.size());
  for (const std::string& id : ids) history.push_back(index.at(id));
  RecommendHistories result;
  result.histories.cols = items;
  append_row(result.histories, history);
  return result;
}

RecommendHistories read_histories(const std::filesystem::path& log, const ItemIndex& index,
                                  std::int64_t items, const Context& context) {
  Interactions interactions = read_log({log}, {}, context.execution);
  const Histories by_user = group_by_user(interactions, context.execution);
  std::vector<std::optional<std::int32_t>> number(interactions.items.size());
  for (std::int64_t i = 0; i < interactions.items.size(); ++i) number[i] = index.find(interactions.items[i]);

  RecommendHistories result;
  result.batch = true;
  result.histories.cols = items;
  std::vector<std::int32_t> history;
  std::int64_t unknown = 0;
  std::int64_t without = 0;
  for (std::int64_t u = 0; u < by_user.users(); ++u) {
    history.clear();
    for (const std::int32_t item : by_user.user(u)) {
      if (number[item]) history.push_back(*number[item]);
    }
    unknown += static_cast<std::int64_t>(by_user.user(u).size() - history.size());
    without += static_cast<std::int64_t>(history.empty());
    append_row(result.histories, history);
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
