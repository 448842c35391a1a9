#include "poise/recommend/explain.hpp"

#include <algorithm>

#include "poise/recommend/item_range.hpp"

namespace poise {

std::vector<Contribution> explain(const Scorer& scorer, std::span<const std::int32_t> history,
                                  std::span<const float> values, std::int32_t item,
                                  std::span<const std::int32_t> disliked, double dislike_share) {
  check_item(item, scorer.items());
  for (const std::int32_t known : history) check_item(known, scorer.items());
  for (const std::int32_t known : disliked) check_item(known, scorer.items());
  const std::vector<double> added = scorer.contributions(history, values, disliked, item);
  std::vector<Contribution> result;
  result.reserve(added.size());
  for (std::size_t k = 0; k < added.size(); ++k) result.push_back({history[k], added[k]});
  if (dislike_share != 0) {
    const std::vector<double> taken = scorer.contributions(disliked, {}, {}, item);
    for (std::size_t k = 0; k < taken.size(); ++k) {
      if (std::ranges::find(history, disliked[k]) == history.end())
        result.push_back({disliked[k], -dislike_share * taken[k]});
    }
  }
  std::sort(result.begin(), result.end(), [](const Contribution& a, const Contribution& b) {
    return a.contribution != b.contribution ? a.contribution > b.contribution : a.item < b.item;
  });
  return result;
}

}  // namespace poise
