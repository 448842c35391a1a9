#include "poise/recommend/ranked_blocks.hpp"

#include <algorithm>

#include "poise/backend/resident.hpp"
#include "poise/recommend/scored_blocks.hpp"

namespace poise {
namespace {

constexpr std::int64_t scores_per_block = std::int64_t{1} << 27;

}  // namespace

void for_each_ranked_user(BackendScorer& scorer, std::int64_t items, CsrView histories, CsrView excluded,
                          std::int64_t k, std::string_view task, Backend& backend, const Execution& execution,
                          const std::function<void(std::int64_t row, std::span<const std::int32_t> items,
                                                   std::span<const float> scores)>& body) {
  check_histories(histories, items);
  const std::int64_t users_per_block =
      std::max<std::int64_t>(64, scores_per_block / std::max<std::int64_t>(1, items));
  const Tiling blocks{histories.rows, users_per_block};
  Resident<float> scores(backend, std::min(histories.rows, users_per_block), items);
  Progress progress(execution.observer, task, histories.rows, "users");
  for (std::int64_t block = 0; block < blocks.tiles(); ++block) {
    const std::int64_t first = blocks.first(block);
    const std::int64_t users = blocks.last(block) - first;
    scorer.score(histories.block(first, users), scores.view().block(0, users));
    const RankedLists lists = backend.top_k(scores.view().block(0, users), excluded.block(first, users), k);
    const Tiling tiles{users, 64};
    for_each_tile(tiles.tiles(), execution.threads, [&](std::int64_t tile) {
      for (std::int64_t row = tiles.first(tile); row < tiles.last(tile); ++row)
        body(first + row, lists.items(row), lists.scores(row));
    });
    progress.advance(users);
  }
}

std::unique_ptr<BackendScorer> off_host(const Scorer& scorer, Backend* backend, const Execution& execution) {
  return backend == nullptr || backend->on_host() ? nullptr : scorer.on(*backend, execution);
}

}  // namespace poise
