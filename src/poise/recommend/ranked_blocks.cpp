#include "poise/recommend/ranked_blocks.hpp"

#include <algorithm>
#include <utility>

#include "poise/backend/resident.hpp"

namespace poise {

struct Ranker::Place {
  std::unique_ptr<Backend> own;
  Backend& backend;
  ScoreRows score;
  Resident<float> scores = {};
};

Ranker::Ranker(const Scorer& scorer, Backend* backend, const Execution& execution)
    : scorer_(scorer),
      device_(backend != nullptr && backend->traits().own_memory ? backend : nullptr),
      execution_(execution) {
  free_.push_back(take());
}

Ranker::Ranker(Ranker&&) noexcept = default;
Ranker::~Ranker() = default;

std::unique_ptr<Ranker::Place> Ranker::take() {
  {
    const std::lock_guard lock(*mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Place> place = std::move(free_.back());
      free_.pop_back();
      return place;
    }
  }
  std::unique_ptr<Backend> own = device_ != nullptr ? nullptr : make_backend(BackendKind::cpu, 1);
  Backend& backend = device_ != nullptr ? *device_ : *own;
  ScoreRows score = scorer_.on(backend, device_ != nullptr ? execution_ : Execution{.threads = 1});
  return std::unique_ptr<Place>(new Place{std::move(own), backend, std::move(score)});
}

void Ranker::rank(
    const UsersToRank& users, std::string_view task,
    const std::function<void(std::int64_t, std::span<const std::int32_t>, std::span<const float>)>& body) {
  check_histories(scorer_, users.histories);
  const std::int64_t items = std::max<std::int64_t>(1, scorer_.items());
  const std::int64_t block = device_ != nullptr
                                 ? std::max<std::int64_t>(64, (std::int64_t{1} << 27) / items)
                                 : std::clamp<std::int64_t>((std::int64_t{1} << 24) / items, 1, 64);
  const Tiling blocks{users.histories.rows, block};
  Progress progress(execution_.observer, task, blocks.count, "users");
  for_each_tile(blocks.tiles(), device_ != nullptr ? 1 : execution_.threads, [&](std::int64_t tile) {
    const std::int64_t first = blocks.first(tile);
    const std::int64_t count = blocks.last(tile) - first;
    std::unique_ptr<Place> place = take();
    if (place->scores.rows() < count)
      place->scores = Resident<float>(place->backend, std::min(blocks.count, blocks.size), scorer_.items());
    const Out<float> part = place->scores.view().block(0, count);
    place->score(users.histories, first, part);
    Csr room;
    const RankedLists lists =
        place->backend.top_k(part, users.excluded(first, count, room), users.k, users.only);
    const Tiling tiles{count, 16};
    for_each_tile(tiles.tiles(), device_ != nullptr ? execution_.threads : 1, [&](std::int64_t some) {
      for (std::int64_t row = tiles.first(some); row < tiles.last(some); ++row)
        body(first + row, lists.items(row), lists.scores(row));
    });
    progress.advance(count);
    const std::lock_guard lock(*mutex_);
    free_.push_back(std::move(place));
  });
}

}  // namespace poise
