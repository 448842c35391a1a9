#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "poise/recommend/titles.hpp"
#include "poise/serve/answers.hpp"
#include "poise/serve/recommend_request.hpp"

namespace poise::serve {

/// A request as a model reads it, and its answer.
struct Ranking {
  std::shared_ptr<const ServedModel> model;
  Csr history;  ///< one row, in the model's numbers
  std::int64_t skipped = 0;
  std::vector<std::int32_t> items;
  std::string recommendations;  ///< as `poise recommend --json` writes them
};

/// Ranks items for one request by this model: the code of `poise recommend`, on the calling thread. Refusal
/// {404} for an unknown user or item of the history.
Ranking rank(const Sources& sources, std::shared_ptr<const ServedModel> model,
             const RecommendRequest& request);

/// For an item that the model does not have.
Refusal unknown_item(const ServedModel& model, std::string_view id);

/// Adds the items of a list, and of its history where it is explained.
void add_titles(const Ranking& ranking, bool explained, Titles& titles);

}  // namespace poise::serve
