#include "poise/recommend/scored_blocks.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "poise/base/error.hpp"

namespace poise {
namespace {

/// Large enough for a model's matrix product to pay, small enough for a block to stay near the cache, and at
/// most 64 MB where the catalogue is large.
std::int64_t users_per_block(std::int64_t items) {
  constexpr std::int64_t most_scores = std::int64_t{1} << 24;
  return std::clamp<std::int64_t>(most_scores / std::max<std::int64_t>(1, items), 1, 64);
}

/// Score blocks that are handed from one tile to the next: fresh ones would be paged in again and again.
class BlockPool {
 public:
  BlockPool(std::int64_t rows, std::int64_t cols) : rows_(rows), cols_(cols) {}

  Matrix<float> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        Matrix<float> block = std::move(free_.back());
        free_.pop_back();
        return block;
      }
    }
    return {rows_, cols_};
  }
  void give_back(Matrix<float> block) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(block));
  }

 private:
  std::int64_t rows_;
  std::int64_t cols_;
  std::mutex mutex_;
  std::vector<Matrix<float>> free_;
};

}  // namespace

void check_histories(CsrView histories, std::int64_t items) {
  if (histories.cols == items) return;
  fail(ErrorKind::input,
       "the histories are over {} items but the model knows {}: use the data it was trained on",
       histories.cols, items);
}

void for_each_scored_block(const Scorer& scorer, CsrView histories, std::string_view task,
                           const Execution& execution,
                           const std::function<void(std::int64_t, MatrixView<const float>)>& body) {
  check_histories(histories, scorer.items());
  const Tiling blocks{histories.rows, users_per_block(histories.cols)};
  BlockPool pool(std::min(blocks.size, histories.rows), histories.cols);
  Progress progress(execution.observer, task, histories.rows, "users");
  for_each_tile(blocks.tiles(), execution.threads, [&](std::int64_t tile) {
    const std::int64_t first = blocks.first(tile);
    const std::int64_t users = blocks.last(tile) - first;
    Matrix<float> block = pool.take();
    const MatrixView<float> scores = block.view().block(0, users);
    scorer.score(histories, first, scores);
    body(first, scores);
    pool.give_back(std::move(block));
    progress.advance(users);
  });
}

}  // namespace poise
