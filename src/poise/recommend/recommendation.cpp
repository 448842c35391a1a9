#include "poise/recommend/recommendation.hpp"

#include <utility>

namespace poise {

std::vector<Recommendation> recommendations_of(const Scorer& scorer, const Ids& items,
                                               std::span<const std::int32_t> history,
                                               std::span<const float> values,
                                               std::span<const std::int32_t> ranked,
                                               std::span<const float> scores, Explained explained,
                                               std::span<const std::int32_t> disliked, double dislike_share) {
  std::vector<Recommendation> result;
  result.reserve(ranked.size());
  for (std::size_t r = 0; r < ranked.size(); ++r) {
    Recommendation recommendation{.item = items[ranked[r]], .score = scores[r]};
    if (explained == Explained::yes)
      recommendation.because = explain(scorer, history, values, ranked[r], disliked, dislike_share);
    result.push_back(std::move(recommendation));
  }
  return result;
}

nlohmann::ordered_json to_json(std::span<const Recommendation> list, const Ids& items, Explained explained) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Recommendation& recommendation : list) {
    nlohmann::ordered_json row = {{"item", recommendation.item}, {"score", recommendation.score}};
    if (explained == Explained::yes) {
      nlohmann::ordered_json& because = row["because"] = nlohmann::ordered_json::array();
      for (const Contribution& reason : recommendation.because)
        because.push_back({{"item", items[reason.item]}, {"contribution", reason.contribution}});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace poise
