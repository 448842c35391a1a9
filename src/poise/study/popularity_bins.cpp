#include "poise/study/popularity_bins.hpp"

#include <algorithm>
#include <numeric>

namespace poise {

std::vector<PopularityBin> popularity_bins(std::span<const std::int64_t> training_counts,
                                           std::span<const std::int64_t> targets,
                                           std::span<const std::int64_t> hits, int bins) {
  std::vector<std::size_t> order(training_counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t item) { return training_counts[item]; });
  const std::int64_t all = std::accumulate(training_counts.begin(), training_counts.end(), std::int64_t{0});
  std::vector<PopularityBin> result;
  std::int64_t before = 0;  // interactions of the items so far
  std::int64_t found = 0;
  PopularityBin bin;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t item = order[k];
    const std::int64_t count = training_counts[item];
    if (bin.items == 0) bin.least = count;
    bin.most = count;
    ++bin.items;
    bin.targets += targets[item];
    found += hits[item];
    before += count;
    const bool last = k + 1 == order.size();
    const auto full = static_cast<std::int64_t>(result.size() + 1) * all <= before * bins;
    if (!last && (!full || training_counts[order[k + 1]] == count)) continue;
    if (bin.targets > 0) bin.recall = static_cast<double>(found) / static_cast<double>(bin.targets);
    result.push_back(bin);
    bin = {};
    found = 0;
  }
  std::erase_if(result, [](const PopularityBin& each) { return each.targets == 0; });
  return result;
}

}  // namespace poise
