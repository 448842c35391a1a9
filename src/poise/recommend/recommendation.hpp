#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "poise/data/ids.hpp"
#include "poise/data/item_features.hpp"
#include "poise/model/scorer.hpp"
#include "poise/recommend/explain.hpp"

namespace poise {

enum class Explained { no, yes };

/// One recommended item of one user; `item` lies in the catalogue's ids.
struct Recommendation {
  std::string_view item;
  float score = 0;
  std::vector<Contribution> because = {};
  std::vector<std::vector<std::string_view>> shared = {};  ///< features that it shares with each of these
};

/// A user's ranked list with ids, explained on request: explain() for each item of the list, and the names of
/// shared features where they are known; these must outlive the list.
std::vector<Recommendation> recommendations_of(
    const Scorer& scorer, const Ids& items, std::span<const std::int32_t> history,
    std::span<const float> values, std::span<const std::int32_t> ranked, std::span<const float> scores,
    Explained explained, const NamedFeatures& features, std::span<const std::int32_t> disliked = {},
    double dislike_share = 0);

/// What `poise recommend --json` and the server put under "recommendations".
nlohmann::ordered_json to_json(std::span<const Recommendation> list, const Ids& items, Explained explained);

}  // namespace poise
