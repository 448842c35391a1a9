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
  Matrix<float> rows = {};  ///< of a GPU, if whole rows are asked for
};

Ranker::Ranker(const Scorer& scorer, Backend* backend, const Execution& execution)
    : scorer_(scorer),
      device_(backend != nullptr && backend->traits().own_memory ? backend : nullptr),
      execution_(execution),
      places_(std::make_unique<Pool<Place>>([&scorer, device = device_, execution] {
        std::unique_ptr<Backend> own = device != nullptr ? nullptr : make_backend(BackendKind::cpu, 1);
        Backend& backend = device != nullptr ? *device : *own;
        ScoreRows score = scorer.on(backend, device != nullptr ? execution : Execution{.threads = 1});
        return std::make_unique<Place>(Place{std::move(own), backend, std::move(score)});
      })) {
  places_->take();  // the first one is made now
}

Ranker::Ranker(Ranker&&) noexcept = default;
Ranker::~Ranker() = default;

void Ranker::rank(const UsersToRank& users, std::string_view task,
                  const std::function<void(const RankedUser& user)>& body) {
  check_histories(scorer_, users.histories);
  const std::int64_t items = std::max<std::int64_t>(1, scorer_.items());
  const std::int64_t block = device_ != nullptr
                                 ? std::max<std::int64_t>(64, (std::int64_t{1} << 27) / items)
                                 : std::clamp<std::int64_t>((std::int64_t{1} << 24) / items, 1, 64);
  const Tiling blocks{users.histories.rows(), block};
  Progress progress(execution_.observer, task, blocks.count, "users");
  for_each_tile(blocks.tiles(), device_ != nullptr ? 1 : execution_.threads, [&](std::int64_t tile) {
    const std::int64_t first = blocks.first(tile);
    const std::int64_t count = blocks.last(tile) - first;
    const auto place = places_->take();
    if (place->scores.rows() < count)
      place->scores = Resident<float>(place->backend, std::min(blocks.count, blocks.size), scorer_.items());
    const Out<float> part = place->scores.view().block(0, count);
    place->score(users.histories, first, part);
    Csr room;
    const RankedLists lists =
        place->backend.top_k(part, users.excluded(first, count, room), users.k, users.only);
    MatrixView<const float> rows;
    if (users.whole_rows && device_ != nullptr) {
      if (place->rows.rows() < count) place->rows = Matrix<float>::uninitialized(count, scorer_.items());
      const MatrixView<float> room = place->rows.view().block(0, count);
      place->backend.download(part, room);
      rows = room;
    } else if (users.whole_rows) {
      rows = part.host();
    }
    for_each_row({count, 16}, device_ != nullptr ? execution_.threads : 1, [&](std::int64_t row) {
      body({.row = first + row,
            .items = lists.items(row),
            .scores = lists.scores(row),
            .all_scores = users.whole_rows ? rows.row(row) : std::span<const float>()});
    });
    progress.advance(count);
  });
}

}  // namespace poise
