#include "poise/recommend/ranked_blocks.hpp"

#include <algorithm>

#include "poise/backend/resident.hpp"

namespace poise {

Ranker::Ranker(const Scorer& scorer, Backend* backend, const Execution& execution)
    : scorer_(scorer),
      execution_(execution),
      processor_(backend != nullptr ? nullptr
                                    : make_backend(BackendKind::cpu, execution.threads, execution.observer)),
      backend_(backend != nullptr ? *backend : *processor_),
      score_(scorer.on(backend_, execution)) {}

void Ranker::rank(
    const UsersToRank& users, std::string_view task,
    const std::function<void(std::int64_t, std::span<const std::int32_t>, std::span<const float>)>& body) {
  check_histories(scorer_, users.histories);
  const std::int64_t items = scorer_.items();
  const std::int64_t scores_per_block = std::int64_t{1} << (backend_.traits().wide_blocks ? 27 : 23);
  // At a million items 16 users are 64 MB of scores.
  const Tiling blocks{users.histories.rows,
                      std::max<std::int64_t>(16, scores_per_block / std::max<std::int64_t>(1, items))};
  Resident<float> scores(backend_, std::min(blocks.count, blocks.size), items);
  Progress progress(execution_.observer, task, blocks.count, "users");
  for (std::int64_t block = 0; block < blocks.tiles(); ++block) {
    const std::int64_t first = blocks.first(block);
    const std::int64_t count = blocks.last(block) - first;
    const Out<float> part = scores.view().block(0, count);
    score_(users.histories, first, part);
    Csr room;
    const RankedLists lists = backend_.top_k(part, users.excluded(first, count, room), users.k, users.only);
    const Tiling tiles{count, 16};
    for_each_tile(tiles.tiles(), execution_.threads, [&](std::int64_t tile) {
      for (std::int64_t row = tiles.first(tile); row < tiles.last(tile); ++row)
        body(first + row, lists.items(row), lists.scores(row));
    });
    progress.advance(count);
  }
}

}  // namespace poise
