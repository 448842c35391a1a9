#include <nlohmann/json.hpp>

#include "poise/base/json_number.hpp"
#include "poise/study/splits.hpp"

namespace poise {
namespace {

using Json = nlohmann::ordered_json;

Json number_list(const SplitValues& values) {
  Json array = Json::array();
  for (const std::optional<double>& value : values) array.push_back(json_number(value));
  return array;
}

/// Replaces "stderr", which a study has over users, by the spread over splits.
void spread_estimates(Json& part, const std::vector<SplitValues>& values,
                      const std::vector<std::string>& metrics) {
  for (std::size_t k = 0; k < metrics.size(); ++k) {
    if (!part.contains(metrics[k])) continue;
    Json& estimate = part[metrics[k]];
    estimate = {
        {"mean", estimate["mean"]}, {"spread", estimate["stderr"]}, {"by_split", number_list(values[k])}};
  }
}

void spread_row(Json& row, const SplitRow& all, const std::vector<std::string>& metrics) {
  for (const char* const key : {"objective", "observed_weight", "certificate", "converged", "convergence",
                                "by_popularity", "seconds", "search", "final"})
    row.erase(key);
  spread_estimates(row["validation"], all.validation, metrics);
  spread_estimates(row["test"], all.test, metrics);
  row["splits"] = all.splits;
  row["best_in"] = all.best_on_validation;
  row["above_popularity_in"] = all.above_popularity;
  row["complete_in"] = all.complete;
  if (row["model"] != "popularity")
    row["by_split"] = {{"alpha", number_list(all.alpha)},
                       {"lambda", number_list(all.lambda)},
                       {"dropout", number_list(all.dropout)},
                       {"lambda_exponent", number_list(all.lambda_exponent)},
                       {"feature_weight", number_list(all.feature_weight)},
                       {"alpha_negative", number_list(all.alpha_negative)}};
}

void spread_pair(Json& pair, const SplitPair& all) {
  pair.erase("users");
  pair["spread"] = json_number(all.spread);
  pair["splits"] = all.splits;
  pair["positive_in"] = all.positive;
  pair["complete_in"] = all.complete;
  pair["by_split"] = number_list(all.difference);
}

}  // namespace

Json to_json(const SplitsResults& results) {
  Json json = to_json(results.means);
  for (const char* const key :
       {"popularity_cutoff", "data", "against_popularity", "against_best", "points", "profiles"})
    json.erase(key);
  for (std::size_t k = 0; k < results.rows.size(); ++k) {
    const StudyRow& row = results.means.rows[k];
    const auto same_data = [&](const StudyRow& other) { return other.data == row.data; };
    spread_row(json["rows"][k], results.rows[k], results.means.metrics);
    json["rows"][k]["best_on_validation"] = best_over_splits(results, same_data) == &row;
  }
  for (std::size_t k = 0; k < results.pairs.size(); ++k) spread_pair(json["pairs"][k], results.pairs[k]);
  json["splits"] = Json::array();
  const auto name_of = [&](std::uint32_t seed) -> std::pair<std::string, Json> {
    if (results.cuts.empty()) return {"seed", seed};
    return {"test_from", split_name(results, seed)};
  };
  for (std::size_t k = 0; k < results.seeds.size(); ++k) {
    StudyResults split;
    split.data = results.data[k];
    const auto [key, name] = name_of(results.seeds[k]);
    json["splits"].push_back({{key, name}, {"data", to_json(split)["data"]}});
  }
  json["unstudied"] = Json::array();
  for (const std::uint32_t seed : results.unstudied) json["unstudied"].push_back(name_of(seed).second);
  return json;
}

}  // namespace poise
