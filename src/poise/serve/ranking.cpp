#include "poise/serve/ranking.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "poise/base/json_text.hpp"
#include "poise/recommend/recommendation.hpp"

namespace poise::serve {
namespace {

/// One row of what was liked, of what is disliked, and of what else was seen.
struct History {
  Csr liked;
  Csr disliked;
  Csr seen;
  std::int64_t skipped = 0;
};

History history_of_user(const Sources& sources, const ServedModel& model, const std::string& user) {
  if (sources.users == nullptr)
    throw Refusal{404, "no_histories", "no histories of users were given to this server; send a history"};
  const auto row = sources.users->find(user);
  if (!row) throw Refusal{404, "unknown_user", fmt::format("there is no user '{}'", user)};
  History result;
  result.liked.cols = result.disliked.cols = result.seen.cols = model.items().size();
  const UserHistories& histories = sources.users->histories();
  result.skipped = append_user(
      histories, *row, [&](std::int32_t item) { return model.index().find(histories.items[item]); },
      result.liked, result.disliked, result.seen);
  return result;
}

History history_of_request(const ServedModel& model, const RecommendRequest& request) {
  History result;
  result.liked.cols = model.items().size();
  HistoryEntries entries;
  entries.reserve(request.history.size());
  for (const std::string& id : request.history) {
    if (const auto item = model.index().find(id)) {
      entries.emplace_back(*item, 1.0F);
    } else if (request.skip_unknown) {
      ++result.skipped;
    } else {
      throw unknown_item(model, id);
    }
  }
  append_history(result.liked, entries, EntryValues::dropped);
  return result;
}

/// The list as `poise recommend --json` writes it. An explained row is as long as the history, and as JSON
/// takes several times the memory of its text: such rows are written one by one.
std::string recommendations_text(const ServedModel& model, const History& history, const RankedLists& lists,
                                 Explained explained) {
  const CsrView liked = history.liked.view();
  const auto rows = [&](std::size_t from, std::size_t count) {
    return to_json(
        recommendations_of(model.scorer(), model.items(), liked.row(0), liked.row_values(0),
                           lists.items(0).subspan(from, count), lists.scores(0).subspan(from, count),
                           explained, model.info().features, history.disliked.indices),
        model.items(), explained);
  };
  const std::size_t count = lists.items(0).size();
  if (explained == Explained::no) return json_text(rows(0, count));
  std::string text = "[";
  for (std::size_t r = 0; r < count; ++r) text += (r > 0 ? "," : "") + json_text(rows(r, 1).front());
  return text + "]";
}

/// The filters of the request and of the server together.
void add_filters(const ServedModel& model, const RecommendRequest& request, RecommendOptions& options) {
  options.exclude = model.known(request.exclude);
  options.exclude.insert(options.exclude.end(), model.excluded().begin(), model.excluded().end());
  options.only = model.only();
  if (!request.only) return;
  std::vector<std::int32_t> wanted = model.known(*request.only);
  if (model.only()) {
    std::erase_if(wanted, [&](std::int32_t item) {
      return !std::binary_search(model.only()->begin(), model.only()->end(), item);
    });
  }
  options.only = std::move(wanted);
}

}  // namespace

Refusal unknown_item(const ServedModel& model, std::string_view id) {
  return {404, "unknown_item",
          fmt::format("the model {} does not know the item '{}'; /v1/items lists those that it knows",
                      model.name(), id)};
}

Ranking rank(const Sources& sources, std::shared_ptr<const ServedModel> model,
             const RecommendRequest& request) {
  History history =
      request.user ? history_of_user(sources, *model, *request.user) : history_of_request(*model, request);
  RecommendOptions options{.k = request.k, .diversify = request.diversify};
  add_filters(*model, request, options);
  options.seen = history.seen.view();
  const CsrView liked = history.liked.view();
  const RankedLists lists =
      recommend(model->ranker(), model->scorer(), {liked, history.disliked.view()}, options);
  const Explained explained = request.explain ? Explained::yes : Explained::no;
  Ranking result{.model = std::move(model),
                 .history = {},
                 .skipped = history.skipped,
                 .items = {lists.items(0).begin(), lists.items(0).end()},
                 .recommendations = {}};
  result.recommendations = recommendations_text(*result.model, history, lists, explained);
  result.history = std::move(history.liked);
  sources.metrics.scored(result.model->name());
  return result;
}

void add_titles(const Ranking& ranking, bool explained, Titles& titles) {
  for (const std::int32_t item : ranking.items) titles.add(ranking.model->items()[item]);
  if (!explained) return;
  for (const std::int32_t item : ranking.history.indices) titles.add(ranking.model->items()[item]);
}

}  // namespace poise::serve
