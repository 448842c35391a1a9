#include "poise/recommend/recommendation.hpp"

#include <utility>

namespace poise {

std::vector<Recommendation> recommendations_of(const Scorer& scorer, const Ids& items,
                                               std::span<const std::int32_t> history,
                                               std::span<const float> values,
                                               std::span<const std::int32_t> ranked,
                                               std::span<const float> scores, Explained explained,
                                               const NamedFeatures& features,
                                               std::span<const std::int32_t> disliked, double dislike_share) {
  std::vector<Recommendation> result;
  result.reserve(ranked.size());
  for (std::size_t r = 0; r < ranked.size(); ++r) {
    Recommendation recommendation{.item = items[ranked[r]], .score = scores[r]};
    if (explained == Explained::yes)
      recommendation.because = explain(scorer, history, values, ranked[r], disliked, dislike_share);
    if (features.of_items.rows > 0) {
      for (const Contribution& reason : recommendation.because)
        recommendation.shared.push_back(features.shared(ranked[r], reason.item));
    }
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
      for (std::size_t k = 0; k < recommendation.because.size(); ++k) {
        const Contribution& reason = recommendation.because[k];
        because.push_back({{"item", items[reason.item]}, {"contribution", reason.contribution}});
        if (!recommendation.shared.empty()) because.back()["features"] = recommendation.shared[k];
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace poise
