#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "poise/serve/http.hpp"
#include "poise/serve/item_catalogue.hpp"
#include "poise/serve/known_users.hpp"
#include "poise/serve/limits.hpp"
#include "poise/serve/metrics.hpp"
#include "poise/serve/models.hpp"
#include "poise/serve/traffic.hpp"

namespace poise::serve {

/// What the endpoints answer from; outlives every request.
struct Sources {
  const Limits& limits;
  Models& models;
  const Traffic& traffic;
  std::string_view shadow;         ///< the model that scores along; empty: none
  const ItemCatalogue* catalogue;  ///< null: there are no titles
  const KnownUsers* users;         ///< null: no histories were given
  const std::vector<std::string>& picture_origins;
  Metrics& metrics;

  [[nodiscard]] const ItemTable* titles() const {
    return catalogue != nullptr ? &catalogue->table() : nullptr;
  }
};

// Each answers one endpoint; a Refusal is thrown, and so is the library's Error.
Response answer_recommend(const Sources& sources, std::string_view body);
Response answer_compare(const Sources& sources, std::string_view body);
Response answer_similar(const Sources& sources, std::string_view body);
Response answer_items(const Sources& sources, std::string_view query);
Response answer_history(const Sources& sources, std::string_view user);
Response answer_models(const Sources& sources);
Response answer_reload(const Sources& sources, std::string_view body);

/// The model of this name; Refusal{404} if there is none.
std::shared_ptr<const ServedModel> model_named(const ModelSet& models, std::string_view name);

}  // namespace poise::serve
