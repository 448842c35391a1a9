#include "poise/recommend/recommend.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "poise/base/error.hpp"
#include "poise/recommend/item_range.hpp"
#include "poise/recommend/ranked_blocks.hpp"
#include "poise/recommend/scored_blocks.hpp"
#include "poise/recommend/top_k.hpp"

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

/// For every row `exclude`, and the history where that is asked for.
Csr excluded_items(CsrView histories, const std::vector<std::int32_t>& exclude, bool exclude_history) {
  Csr excluded{.rows = histories.rows, .cols = histories.cols, .offsets = {0}, .indices = {}, .values = {}};
  for (std::int64_t row = 0; row < histories.rows; ++row) {
    const auto history = exclude_history ? histories.row(row) : std::span<const std::int32_t>();
    std::set_union(history.begin(), history.end(), exclude.begin(), exclude.end(),
                   std::back_inserter(excluded.indices));
    excluded.offsets.push_back(excluded.entries());
  }
  return excluded;
}

}  // namespace

RankedLists recommend(const Scorer& scorer, CsrView histories, const RecommendOptions& options,
                      const Execution& execution, Backend* backend) {
  if (options.k < 1) fail(ErrorKind::usage, "k is {}: ask for at least one item", options.k);
  const std::vector<std::int32_t> exclude = sorted_items(options.exclude, scorer.items());
  std::optional<std::vector<std::int32_t>> only;
  if (options.only) only = sorted_items(*options.only, scorer.items());

  RankedLists lists(histories.rows, std::min(options.k, scorer.items()));
  if (const auto elsewhere = only ? nullptr : off_host(scorer, backend, execution)) {
    const Csr excluded = excluded_items(histories, exclude, options.exclude_history);
    for_each_ranked_user(
        *elsewhere, scorer.items(), histories, excluded.view(), lists.width(), "recommending", *backend,
        execution, [&](std::int64_t row, std::span<const std::int32_t> items, std::span<const float> scores) {
          std::ranges::copy(items, lists.item_slots(row).begin());
          std::ranges::copy(scores, lists.score_slots(row).begin());
          lists.resize(row, std::ssize(items));
        });
    return lists;
  }
  for_each_scored_block(
      scorer, histories, "recommending", execution, [&](std::int64_t first, MatrixView<const float> scores) {
        std::vector<std::int32_t> both;
        for (std::int64_t row = first; row < first + scores.rows; ++row) {
          Candidates candidates{.excluded = exclude, .only = only};
          if (options.exclude_history) {
            const auto history = histories.row(row);
            both.clear();
            std::set_union(history.begin(), history.end(), exclude.begin(), exclude.end(),
                           std::back_inserter(both));
            candidates.excluded = both;
          }
          lists.resize(
              row, top_k(scores.row(row - first), candidates, lists.item_slots(row), lists.score_slots(row)));
        }
      });
  return lists;
}

}  // namespace poise
