#include <memory>
#include <random>

#include <benchmark/benchmark.h>

#include "poise/backend/resident.hpp"
#include "poise/base/pool.hpp"
#include "poise/recommend/recommend.hpp"

#include "timing.hpp"

namespace {

constexpr std::int64_t user_count = 10'000;
constexpr std::int64_t item_count = 20'000;

/// Rows of normal scores, drawn once and then copied: a scorer of negligible cost.
class CopiedScores final : public poise::Scorer {
 public:
  CopiedScores() : rows_(256, item_count) {
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    for (std::int64_t r = 0; r < rows_.rows(); ++r) {
      for (float& score : rows_.row(r)) score = normal(generator);
    }
  }
  [[nodiscard]] std::int64_t items() const override { return item_count; }
  [[nodiscard]] poise::ScoreRows on(poise::Backend& backend,
                                    const poise::Execution& /*execution*/) const override {
    return [&backend, rows = poise::Lent(backend, rows_.view())](
               const poise::UserRows& /*histories*/, std::int64_t first, poise::Out<float> scores) {
      std::vector<std::int32_t> sources(scores.rows);
      for (std::int64_t k = 0; k < scores.rows; ++k)
        sources[k] = static_cast<std::int32_t>((first + k) % rows.view().rows);
      backend.copy_rows(rows.view(), sources, scores, {});
    };
  }

 private:
  poise::Matrix<float> rows_;
};

/// 70 items a user, spread over the catalogue.
poise::Csr make_histories() {
  poise::Csr histories{.rows = user_count, .cols = item_count, .offsets = {0}};
  for (std::int64_t u = 0; u < user_count; ++u) {
    for (std::int64_t e = 0; e < 70; ++e) {
      histories.indices.push_back(static_cast<std::int32_t>(e * 280 + u * 7919 % 280));
    }
    histories.offsets.push_back(histories.entries());
  }
  return histories;
}

/// The 100 best of 20 000 items for 10 000 users on 2 threads: the time beyond scoring, and as a multiple of
/// the time to read the scores once.
void top_100(benchmark::State& state) {
  const CopiedScores scorer;
  const poise::Csr histories = make_histories();
  const poise::Execution execution{.threads = 2};
  const poise::RecommendOptions options{.k = 100};
  // In blocks as recommend() makes them, which stay near the caches.
  constexpr std::int64_t block = 64;
  struct Place {
    std::unique_ptr<poise::Backend> backend = poise::make_backend(poise::BackendKind::cpu, 1);
    poise::ScoreRows score;
    poise::Resident<float> scores{*backend, block, item_count};
  };
  poise::Pool<Place> places([&] {
    auto place = std::make_unique<Place>();
    place->score = scorer.on(*place->backend, {.threads = 1});
    return place;
  });
  const auto score_all = [&](const auto& body) {
    const poise::Tiling blocks{user_count, block};
    poise::for_each_tile(blocks.tiles(), execution.threads, [&](std::int64_t k) {
      const auto place = places.take();
      const auto part = place->scores.view().block(0, blocks.last(k) - blocks.first(k));
      place->score(histories.view(), blocks.first(k), part);
      body(part.host());
    });
  };
  poise::bench::Shortest recommending;
  poise::bench::Shortest scoring;
  poise::bench::Shortest reading;
  for (auto _ : state) {
    recommending.time(
        [&] { benchmark::DoNotOptimize(recommend(scorer, histories.view(), options, execution)); });
    scoring.time([&] { score_all([](auto) {}); });
    reading.time([&] {
      score_all([&](poise::MatrixView<const float> scores) {
        for (std::int64_t row = 0; row < scores.rows; ++row) {
          int any = 0;
          for (const float score : scores.row(row)) any |= static_cast<int>(score > 100.0F);
          benchmark::DoNotOptimize(any);
        }
      });
    });
  }
  const double beyond = recommending.seconds() - scoring.seconds();
  state.counters["seconds_beyond_scoring"] = beyond;
  state.counters["seconds_scoring"] = scoring.seconds();
  state.counters["ratio_to_read"] = beyond / (reading.seconds() - scoring.seconds());
}
BENCHMARK(top_100)->Unit(benchmark::kMillisecond)->Iterations(7)->UseRealTime();

}  // namespace
