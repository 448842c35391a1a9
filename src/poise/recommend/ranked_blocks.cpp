#include "poise/recommend/ranked_blocks.hpp"

#include <algorithm>

#include "poise/backend/resident.hpp"
#include "poise/recommend/scored_blocks.hpp"

namespace poise {
namespace {

constexpr std::int64_t scores_per_block = std::int64_t{1} << 27;

}  // namespace

void for_each_ranked_user(const Scorer& scorer, BackendScorer* elsewhere, Backend* backend,
                          const UsersToRank& users, std::string_view task, const Execution& execution,
                          const std::function<void(std::int64_t row, std::span<const std::int32_t> items,
                                                   std::span<const float> scores)>& body) {
  const auto ranked = [&](Backend& where, std::int64_t first, MatrixView<const float> scores) {
    Csr room;
    return where.top_k(scores, users.excluded(first, scores.rows, room), users.k);
  };
  if (elsewhere == nullptr) {
    for_each_scored_block(scorer, users.histories, task, execution,
                          [&](std::int64_t first, MatrixView<const float> scores) {
                            const auto here = make_backend(BackendKind::cpu, 1);
                            const RankedLists lists = ranked(*here, first, scores);
                            for (std::int64_t row = 0; row < scores.rows; ++row)
                              body(first + row, lists.items(row), lists.scores(row));
                          });
    return;
  }
  const std::int64_t items = scorer.items();
  check_histories(users.histories, items);
  const std::int64_t users_per_block =
      std::max<std::int64_t>(64, scores_per_block / std::max<std::int64_t>(1, items));
  const Tiling blocks{users.histories.rows, users_per_block};
  Resident<float> scores(*backend, std::min(users.histories.rows, users_per_block), items);
  Progress progress(execution.observer, task, users.histories.rows, "users");
  for (std::int64_t block = 0; block < blocks.tiles(); ++block) {
    const std::int64_t first = blocks.first(block);
    const MatrixView<float> part = scores.view().block(0, blocks.last(block) - first);
    elsewhere->score(users.histories.block(first, part.rows), part);
    const RankedLists lists = ranked(*backend, first, part);
    const Tiling tiles{part.rows, 64};
    for_each_tile(tiles.tiles(), execution.threads, [&](std::int64_t tile) {
      for (std::int64_t row = tiles.first(tile); row < tiles.last(tile); ++row)
        body(first + row, lists.items(row), lists.scores(row));
    });
    progress.advance(part.rows);
  }
}

std::unique_ptr<BackendScorer> off_host(const Scorer& scorer, Backend* backend, const Execution& execution) {
  return backend == nullptr || !backend->traits().own_memory ? nullptr : scorer.on(*backend, execution);
}

}  // namespace poise
