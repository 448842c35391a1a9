#include <charconv>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "poise/base/json_text.hpp"
#include "poise/base/version.hpp"
#include "poise/recommend/recommendation.hpp"
#include "poise/recommend/similar.hpp"
#include "poise/serve/answers.hpp"
#include "poise/serve/ranking.hpp"
#include "poise/serve/recommend_request.hpp"

namespace poise::serve {
namespace {

std::int64_t limit_of(std::string_view query, const Limits& limits) {
  const auto text = query_value(query, "limit");
  if (!text) return 20;
  std::int64_t limit = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (error != std::errc() || end != text->data() + text->size() || limit < 1 || limit > limits.found_items)
    throw Refusal{400, "bad_field", fmt::format("limit should be 1 to {}", limits.found_items)};
  return limit;
}

Json card_of(const ServedModel& model, const Sources& sources, bool first) {
  Json card = {{"name", model.name()},
               {"default", first},
               {"model", model.info().model},
               {"items", model.items().size()},
               {"options", model.info().options},
               {"report", Json::parse(model.info().report)},
               {"data_checksum", model.info().data_checksum},
               {"checksum", model.checksum()},
               {"since", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                     fmt::gmtime(std::chrono::system_clock::to_time_t(model.since())))}};
  if (const double share = sources.traffic.share_of(model.name()); share > 0) card["share"] = share;
  if (model.name() == sources.shadow) card["shadow"] = true;
  return card;
}

}  // namespace

std::shared_ptr<const ServedModel> model_named(const ModelSet& models, std::string_view name) {
  auto found = find_model(models, name);
  if (found == nullptr) throw Refusal{404, "unknown_model", fmt::format("there is no model '{}'", name)};
  return found;
}

Response answer_similar(const Sources& sources, std::string_view body) {
  const Json json = object_of(body, sources.limits);
  refuse_other_names(json, {"item", "k", "model"}, "");
  if (!json.contains("item")) throw Refusal{400, "bad_field", "give an item"};
  const auto models = sources.models.now();
  const auto model = json.contains("model") ? model_named(*models, id_of(json["model"], "model"))
                                            : sources.traffic.choose(*models, std::nullopt);
  const std::int64_t k = json.contains("k") ? k_of(json["k"], sources.limits, "") : 20;
  const std::string id = id_of(json["item"], "item");
  const auto item = model->index().find(id);
  if (!item) throw unknown_item(*model, id);
  const RankedLists list = similar(model->scorer(), *item, k);
  const auto found = recommendations_of(model->scorer(), model->items(), {}, {}, list.items(0),
                                        list.scores(0), Explained::no, model->info().features);
  Titles titles(sources.titles());
  titles.add(id);
  for (const Recommendation& each : found) titles.add(each.item);
  return {.body = fmt::format("{{\"model\":{},\"item\":{},\"similar\":{}{}}}", json_quoted(model->name()),
                              json_quoted(id), json_text(to_json(found, model->items(), Explained::no)),
                              titles.text())};
}

Response answer_items(const Sources& sources, std::string_view query) {
  const auto models = sources.models.now();
  const auto name = query_value(query, "model");
  const auto model = name ? model_named(*models, *name) : models->front();
  const std::string text = query_value(query, "q").value_or("");
  const std::int64_t limit = limit_of(query, sources.limits);
  const ItemCatalogue& catalogue = sources.catalogue != nullptr ? *sources.catalogue : model->catalogue();
  const auto known = [&](std::string_view id) { return model->index().find(id).has_value(); };
  Json items = Json::array();
  for (const std::int64_t item : catalogue.find(text, limit, known)) {
    const ItemTable& table = catalogue.table();
    Json row = {{"id", table.id(item)}};
    if (!table.title(item).empty()) row["title"] = table.title(item);
    if (const std::string_view picture = table.picture_of(table.id(item)); !picture.empty())
      row["picture"] = picture;
    for (const auto& [column, value] : table.columns(item)) {
      if (!row.contains(column)) row[std::string(column)] = value;
    }
    items.push_back(std::move(row));
  }
  return {.body = json_text({{"model", model->name()}, {"items", std::move(items)}})};
}

Response answer_history(const Sources& sources, std::string_view user) {
  if (sources.users == nullptr)
    throw Refusal{404, "no_histories", "no histories of users were given to this server"};
  const auto row = sources.users->find(user);
  if (!row) throw Refusal{404, "unknown_user", fmt::format("there is no user '{}'", user)};
  const UserHistories& histories = sources.users->histories();
  const auto items = histories.liked.view().row(*row);
  const auto values = histories.liked.view().row_values(*row);
  Titles titles(sources.titles());
  Json history = Json::array();
  for (std::size_t e = 0; e < items.size(); ++e) {
    Json entry = {{"item", histories.items[items[e]]}};
    if (!values.empty()) entry["value"] = values[e];
    history.push_back(std::move(entry));
    titles.add(histories.items[items[e]]);
  }
  return {.body = fmt::format("{{\"user\":{},\"history\":{}{}}}", json_quoted(user), json_text(history),
                              titles.text())};
}

Response answer_models(const Sources& sources) {
  const auto models = sources.models.now();
  Json cards = Json::array();
  for (const auto& model : *models) cards.push_back(card_of(*model, sources, model == models->front()));
  return {.body = json_text({{"version", std::string(version())},
                             {"models", std::move(cards)},
                             {"titles", sources.catalogue != nullptr},
                             {"histories", sources.users != nullptr},
                             {"picture_origins", sources.picture_origins}})};
}

Response answer_reload(const Sources& sources, std::string_view body) {
  refuse_other_names(object_of(body, sources.limits), {}, "");
  Json outcomes = Json::array();
  std::string problems;
  for (const Reloaded& each : sources.models.reload()) {
    sources.metrics.reloaded(each.taken);
    outcomes.push_back({{"model", each.name}, {"taken", each.taken}});
    if (!each.taken) problems += (problems.empty() ? "" : "; ") + each.name + ": " + each.problem;
  }
  if (!problems.empty())
    throw Refusal{503, "reload_failed", "the models before go on serving where a file is bad: " + problems};
  return {.body = json_text({{"reloaded", std::move(outcomes)}})};
}

}  // namespace poise::serve
