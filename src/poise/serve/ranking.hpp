#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

/// Titles of the items that an answer names.
class Titles {
 public:
  explicit Titles(const ItemCatalogue* catalogue) : catalogue_(catalogue) {}
  void add(std::string_view id);
  /// The items of a list, and of its history where it is explained.
  void add(const Ranking& ranking, bool explained);
  /// `,"titles":{...}`; nothing where there is no catalogue.
  [[nodiscard]] std::string text() const;

 private:
  const ItemCatalogue* catalogue_;
  std::set<std::string_view> ids_;
};

/// A JSON text.
std::string json_quoted(std::string_view text);

}  // namespace poise::serve
