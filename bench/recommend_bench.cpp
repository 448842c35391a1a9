#include <cstring>
#include <random>

#include <benchmark/benchmark.h>

#include "poise/recommend/recommend.hpp"
#include "poise/recommend/scored_blocks.hpp"

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
  void score(poise::CsrView /*histories*/, std::int64_t first,
             poise::MatrixView<float> scores) const override {
    for (std::int64_t k = 0; k < scores.rows; ++k) {
      const auto source = rows_.row((first + k) % rows_.rows());
      std::memcpy(scores.row(k).data(), source.data(), source.size_bytes());
    }
  }

 private:
  poise::Matrix<float> rows_;
};

/// 70 items a user, spread over the catalogue.
poise::Csr make_histories() {
  poise::Csr histories{.rows = user_count, .cols = item_count, .offsets = {0}, .indices = {}, .values = {}};
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
  poise::bench::Shortest recommending;
  poise::bench::Shortest scoring;
  poise::bench::Shortest reading;
  for (auto _ : state) {
    recommending.time(
        [&] { benchmark::DoNotOptimize(recommend(scorer, histories.view(), options, execution)); });
    scoring.time([&] {
      for_each_scored_block(scorer, histories.view(), "scoring", execution, [](std::int64_t, auto scores) {
        benchmark::DoNotOptimize(scores.data);
        benchmark::ClobberMemory();
      });
    });
    reading.time([&] {
      for_each_scored_block(scorer, histories.view(), "reading", execution, [](std::int64_t, auto scores) {
        for (std::int64_t r = 0; r < scores.rows; ++r) {
          int any = 0;
          for (const float score : scores.row(r)) any |= static_cast<int>(score > 100.0F);
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
