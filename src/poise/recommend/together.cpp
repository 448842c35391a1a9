#include "poise/recommend/together.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "poise/comm/packed.hpp"

namespace poise {
namespace {

std::string message_of(const RankedLists& lists) {
  std::vector<std::int64_t> sizes;
  std::vector<std::int32_t> items;
  std::vector<float> scores;
  for (std::int64_t row = 0; row < lists.rows(); ++row) {
    sizes.push_back(lists.size(row));
    items.insert(items.end(), lists.items(row).begin(), lists.items(row).end());
    scores.insert(scores.end(), lists.scores(row).begin(), lists.scores(row).end());
  }
  return packed({bytes_of(sizes), bytes_of(items), bytes_of(scores)});
}

/// Copies the lists of a message to the rows from `first` on.
void put(const std::string& message, std::int64_t first, RankedLists& lists) {
  const std::vector<std::string> parts = unpacked(message);
  const auto sizes = values_of<std::int64_t>(parts.at(0));
  const auto items = values_of<std::int32_t>(parts.at(1));
  const auto scores = values_of<float>(parts.at(2));
  std::int64_t place = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const std::int64_t row = first + static_cast<std::int64_t>(k);
    std::copy_n(items.begin() + place, sizes[k], lists.item_slots(row).begin());
    std::copy_n(scores.begin() + place, sizes[k], lists.score_slots(row).begin());
    lists.resize(row, sizes[k]);
    place += sizes[k];
  }
}

}  // namespace

RankedLists recommend_together(const Scorer& scorer, const UserRows& histories,
                               const RecommendOptions& options, const Execution& execution, Backend* backend,
                               Processes& processes) {
  if (!processes.several()) return recommend(scorer, histories, options, execution, backend);
  const auto first_of = [&](std::int64_t rank) { return histories.rows() * rank / processes.size(); };
  const std::int64_t first = first_of(processes.rank());
  const std::int64_t count = first_of(processes.rank() + 1) - first;
  RecommendOptions part = options;
  if (options.seen.rows > 0) part.seen = options.seen.block(first, count);
  const RankedLists own = recommend(scorer, histories.block(first, count), part, execution, backend);
  const std::vector<std::string> all = processes.gather(message_of(own));
  RankedLists lists(histories.rows(), own.width());
  if (!processes.first()) put(message_of(own), first, lists);
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    put(all[rank], first_of(static_cast<std::int64_t>(rank)), lists);
  return lists;
}

}  // namespace poise
