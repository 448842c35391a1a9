#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "poise/base/json_text.hpp"
#include "poise/serve/answers.hpp"
#include "poise/serve/ranking.hpp"
#include "poise/serve/recommend_request.hpp"

namespace poise::serve {
namespace {

std::shared_ptr<const ServedModel> model_for(const Sources& sources, const ModelSet& models,
                                             const RecommendRequest& request) {
  return request.model ? model_named(models, *request.model)
                       : sources.traffic.choose(models, request.visitor());
}

/// `"model":...,"recommendations":[...]`, the inside of an answer.
std::string answer_text(const Ranking& ranking) {
  std::string text = "\"model\":" + json_quoted(ranking.model->name());
  text += ",\"recommendations\":" + ranking.recommendations;
  if (ranking.skipped > 0) text += fmt::format(",\"skipped\":{}", ranking.skipped);
  return text;
}

std::int64_t history_length(const Sources& sources, const RecommendRequest& request) {
  if (!request.user) return std::ssize(request.history);
  const auto row = sources.users != nullptr ? sources.users->find(*request.user) : std::nullopt;
  return row ? std::ssize(sources.users->histories().liked.view().row(*row)) : 0;
}

/// What takes more than a product of a history with the model is limited over all of a request.
void check_amount(const Sources& sources, std::span<const RecommendRequest> requests) {
  const Limits& limits = sources.limits;
  std::int64_t explained = 0;
  std::int64_t diversified = 0;
  std::int64_t reasons = 0;
  for (const RecommendRequest& request : requests) {
    if (request.diversify > 0) diversified += request.k;
    if (!request.explain) continue;
    explained += request.k;
    reasons += request.k * history_length(sources, request);
  }
  const auto check = [](std::string_view what, std::int64_t items, std::int64_t most) {
    if (items > most)
      throw Refusal{
          413, "too_many_items",
          fmt::format("{0} {1} items are asked for; at most {2} are {1} in one request", items, what, most)};
  };
  check("explained", explained, limits.explained);
  check("diversified", diversified, limits.diversified);
  if (reasons > limits.reasons)
    throw Refusal{
        413, "too_many_items",
        fmt::format("{} explained items have {} items of histories as reasons; at most {} reasons are "
                    "given in one request: lower k",
                    explained, reasons, limits.reasons)};
}

/// A request, and the ids of what was shown for it.
struct Shown {
  RecommendRequest request;
  std::vector<std::string> ids;
};

/// Counts how much of it the shadow model would have shown.
void score_along(const Sources& sources, const Shown& shown) {
  const auto models = sources.models.now();
  const Ranking shadow = rank(sources, model_named(*models, sources.shadow), shown.request);
  std::vector<std::int32_t> listed = shadow.items;
  std::ranges::sort(listed);
  std::int64_t common = 0;
  for (const std::string& id : shown.ids) {
    const auto item = shadow.model->index().find(id);
    common += item && std::ranges::binary_search(listed, *item) ? 1 : 0;
  }
  sources.metrics.compared(common, std::ssize(shown.ids));
}

/// The work of the shadow model, for when the client has its answer.
std::function<void()> shadow_work(const Sources& sources, std::span<const RecommendRequest> requests,
                                  std::span<const Ranking> rankings) {
  std::vector<Shown> all;
  for (std::size_t k = 0; k < rankings.size() && !sources.shadow.empty(); ++k) {
    const Ranking& ranking = rankings[k];
    if (ranking.model->name() == sources.shadow) continue;
    Shown shown{.request = requests[k], .ids = {}};
    shown.request.explain = false;
    shown.request.skip_unknown = true;
    for (const std::int32_t item : ranking.items) shown.ids.emplace_back(ranking.model->items()[item]);
    all.push_back(std::move(shown));
  }
  if (all.empty()) return {};
  return [&sources, all = std::move(all)] {
    for (const Shown& shown : all) score_along(sources, shown);
  };
}

std::vector<RecommendRequest> batch_of(const Json& json, const Sources& sources) {
  const Limits& limits = sources.limits;
  refuse_other_names(json, {"batch"}, "");
  const Json& batch = json["batch"];
  if (!batch.is_array() || batch.empty())
    throw Refusal{400, "bad_field", "batch should be a list of requests"};
  if (std::ssize(batch) > limits.batch)
    throw Refusal{413, "batch_too_large", fmt::format("a batch has at most {} requests", limits.batch)};
  std::vector<RecommendRequest> requests;
  for (std::size_t k = 0; k < batch.size(); ++k)
    requests.push_back(read_recommend_request(batch[k], limits, fmt::format("batch[{}]: ", k)));
  check_amount(sources, requests);
  return requests;
}

Response answer_batch(const Sources& sources, const ModelSet& models, const Json& json) {
  const std::vector<RecommendRequest> requests = batch_of(json, sources);
  std::vector<Ranking> rankings;
  Titles titles(sources.titles());
  std::string text = "{\"batch\":[";
  for (std::size_t k = 0; k < requests.size(); ++k) {
    try {
      rankings.push_back(rank(sources, model_for(sources, models, requests[k]), requests[k]));
    } catch (Refusal& refusal) {
      refusal.message = fmt::format("batch[{}]: {}", k, refusal.message);
      throw;
    }
    add_titles(rankings.back(), requests[k].explain, titles);
    text += (k > 0 ? ",{" : "{") + answer_text(rankings.back()) + "}";
  }
  return {.body = text + "]" + titles.text() + "}", .after = shadow_work(sources, requests, rankings)};
}

}  // namespace

Response answer_recommend(const Sources& sources, std::string_view body) {
  const Json json = object_of(body, sources.limits);
  const auto models = sources.models.now();
  if (json.contains("batch")) return answer_batch(sources, *models, json);
  const RecommendRequest request = read_recommend_request(json, sources.limits, "");
  check_amount(sources, {&request, 1});
  const Ranking ranking = rank(sources, model_for(sources, *models, request), request);
  Titles titles(sources.titles());
  add_titles(ranking, request.explain, titles);
  return {.body = "{" + answer_text(ranking) + titles.text() + "}",
          .after = shadow_work(sources, {&request, 1}, {&ranking, 1})};
}

Response answer_compare(const Sources& sources, std::string_view body) {
  Json json = object_of(body, sources.limits);
  const auto models = sources.models.now();
  std::vector<std::shared_ptr<const ServedModel>> compared;
  if (json.contains("models")) {
    const Json names = json["models"];
    if (!names.is_array() || names.size() != 2)
      throw Refusal{400, "bad_field", "models should be a list of two models"};
    for (const Json& name : names) compared.push_back(model_named(*models, id_of(name, "models")));
    json.erase("models");
  } else if (models->size() >= 2) {
    compared = {(*models)[0], (*models)[1]};
  } else {
    throw Refusal{400, "bad_field", "this server has one model; name two in models"};
  }
  if (json.contains("model")) throw Refusal{400, "bad_field", "name two models in models, not one in model"};
  const RecommendRequest request = read_recommend_request(json, sources.limits, "");
  check_amount(sources, std::vector{request, request});
  Titles titles(sources.titles());
  std::vector<Ranking> rankings;
  std::string text = "{\"models\":[";
  for (const auto& model : compared) {
    rankings.push_back(rank(sources, model, request));
    add_titles(rankings.back(), request.explain, titles);
    text += (rankings.size() > 1 ? ",{" : "{") + answer_text(rankings.back()) + "}";
  }
  std::int64_t common = 0;
  const Ranking& other = rankings[1];
  for (const std::int32_t item : rankings[0].items) {
    const auto there = other.model->index().find(rankings[0].model->items()[item]);
    common += there && std::ranges::find(other.items, *there) != other.items.end() ? 1 : 0;
  }
  return {.body = fmt::format("{}],\"common\":{}{}}}", text, common, titles.text())};
}

}  // namespace poise::serve
