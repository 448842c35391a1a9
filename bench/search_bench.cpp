// Shared work of a search's points: the paper's grid for the full-rank model against its points one by one.
#include <benchmark/benchmark.h>

#include "poise/backend/backend.hpp"
#include "poise/data/synth.hpp"
#include "poise/search/search.hpp"

#include "timing.hpp"

namespace {

constexpr std::int64_t searched_users = 10'000;
constexpr std::int64_t held_out = 500;
constexpr std::int64_t searched_items = 2'000;

/// Rows [first, first + count) of the data, over the first items; with `parts` = 2 one part has every fifth
/// entry and the other part the rest.
poise::Csr rows_of(const poise::Csr& x, std::int64_t first, std::int64_t count, int part, int parts) {
  poise::Csr result{.rows = count, .cols = searched_items, .offsets = {0}};
  for (std::int64_t u = first; u < first + count; ++u) {
    for (const std::int32_t i : x.view().row(u)) {
      if (i < searched_items && (parts == 1 || (i % 5 == 0) == (part == 1))) result.indices.push_back(i);
    }
    result.offsets.push_back(result.entries());
  }
  return result;
}

poise::LoadedDataset some_data() {
  const poise::Csr x = poise::synthesize({.shape = poise::SynthShape::ml_20m}, {});
  poise::LoadedDataset data;
  data.dataset.train = rows_of(x, 0, searched_users, 0, 1);
  data.dataset.validation = poise::HeldOut{.users = {},
                                           .fold_in = rows_of(x, searched_users, held_out, 0, 2),
                                           .targets = rows_of(x, searched_users, held_out, 1, 2)};
  data.dataset.split = poise::SplitKind::users;
  return data;
}

/// ratio: the grid's 25 points in one search over the same points one by one, both with evaluation;
/// ratio_both: a search that also trains the zero diagonal, over the 25 points of one diagonal.
void search_full_rank(benchmark::State& state) {
  const poise::LoadedDataset data = some_data();
  const poise::Execution two{.threads = 2};
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  const poise::SearchSpace space{.expand = false};
  const auto seconds = [&](poise::Keep keep, poise::Diagonals diagonals) {
    poise::bench::Shortest time;
    time.time([&] {
      poise::Trainer trainer(data, "", keep, std::uint64_t{16} << 30U, *backend, two);
      poise::Points points(trainer, {}, nullptr, two);
      points.measure(first_points(space), diagonals);
    });
    return time.seconds();
  };
  for (auto _ : state) {
    const double alone = seconds(poise::Keep::nothing, poise::Diagonals::as_asked);
    const double shared = seconds(poise::Keep::shared_parts, poise::Diagonals::as_asked);
    const double both = seconds(poise::Keep::shared_parts, poise::Diagonals::both);
    state.counters["one_by_one_s"] = alone;
    state.counters["search_s"] = shared;
    state.counters["both_diagonals_s"] = both;
    state.counters["ratio"] = shared / alone;
    state.counters["ratio_both"] = both / alone;
  }
}
BENCHMARK(search_full_rank)->Iterations(1)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace
