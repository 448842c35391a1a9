#include "poise/recommend/recommend.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/recommend/diversify.hpp"
#include "poise/recommend/item_range.hpp"
#include "poise/recommend/ranked_blocks.hpp"

namespace poise {
namespace {

/// Ascending and distinct; Error{input} for an item outside the catalogue.
std::vector<std::int32_t> sorted_items(std::vector<std::int32_t> items, std::int64_t catalogue) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  if (!items.empty()) {
    check_item(items.front(), catalogue);
    check_item(items.back(), catalogue);
  }
  return items;
}

/// The items that are not recommended for a row, ascending.
class Excluded {
 public:
  Excluded(const UserRows& histories, const RecommendOptions& options, std::vector<std::int32_t> exclude)
      : histories_(histories), options_(options), exclude_(std::move(exclude)) {}

  /// Rows [first, first + count).
  [[nodiscard]] Csr rows(std::int64_t first, std::int64_t count) const {
    Csr result{.rows = count, .cols = histories_.cols(), .offsets = {0}};
    std::vector<std::int32_t> known;
    std::vector<std::int32_t> unwanted;
    for (std::int64_t row = first; row < first + count; ++row) {
      const auto history =
          options_.exclude_history ? histories_.items.row(row) : std::span<const std::int32_t>();
      const auto seen = options_.seen.rows > 0 ? options_.seen.row(row) : std::span<const std::int32_t>();
      const auto disliked =
          histories_.disliked.rows > 0 ? histories_.disliked.row(row) : std::span<const std::int32_t>();
      known.clear();
      unwanted.clear();
      std::ranges::set_union(history, seen, std::back_inserter(known));
      std::ranges::set_union(disliked, exclude_, std::back_inserter(unwanted));
      std::ranges::set_union(known, unwanted, std::back_inserter(result.indices));
      result.offsets.push_back(result.entries());
    }
    return result;
  }

 private:
  UserRows histories_;
  const RecommendOptions& options_;
  std::vector<std::int32_t> exclude_;
};

}  // namespace

RankedLists recommend(const Scorer& scorer, const UserRows& histories, const RecommendOptions& options,
                      const Execution& execution, Backend* backend) {
  Ranker ranker(scorer, backend, execution);
  return recommend(ranker, scorer, histories, options);
}

RankedLists recommend(Ranker& ranker, const Scorer& scorer, const UserRows& histories,
                      const RecommendOptions& options) {
  if (options.k < 1) fail(ErrorKind::usage, "k is {}: ask for at least one item", options.k);
  if (options.seen.rows != 0 &&
      (options.seen.rows != histories.rows() || options.seen.cols != histories.cols()))
    fail(ErrorKind::input, "what was seen is {} x {} but the histories are {} x {}: give them the same shape",
         options.seen.rows, options.seen.cols, histories.rows(), histories.cols());
  const Excluded excluded(histories, options, sorted_items(options.exclude, scorer.items()));
  std::optional<std::vector<std::int32_t>> only;
  if (options.only) only = sorted_items(*options.only, scorer.items());

  RankedLists lists(histories.rows(), std::min(options.k, scorer.items()));
  const auto left_out = [&](std::int64_t first, std::int64_t count, Csr& room) {
    room = excluded.rows(first, count);
    return room.view();
  };
  const Diversifier diversifier(scorer, options.diversify, lists.width());
  ranker.rank({histories, left_out, diversifier.pool(), only}, "recommending", [&](const RankedUser& user) {
    const std::vector<std::int32_t> places = diversifier.order(user.items, user.scores);
    const auto items = lists.item_slots(user.row);
    const auto scores = lists.score_slots(user.row);
    for (std::size_t r = 0; r < places.size(); ++r) {
      items[r] = user.items[places[r]];
      scores[r] = user.scores[places[r]];
    }
    lists.resize(user.row, std::ssize(places));
  });
  return lists;
}

}  // namespace poise
