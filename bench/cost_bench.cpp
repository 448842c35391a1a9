// What the cost model says of training against what it takes: expected_s and seconds of each model, and their
// ratio, which should lie between 1/3 and 3 on an idle machine. Eigenpairs are found before, as a search
// does.
#include <string>

#include <benchmark/benchmark.h>

#include "poise/backend/backend.hpp"
#include "poise/data/synth.hpp"
#include "poise/train/trainer.hpp"

#include "timing.hpp"

namespace {

using poise::Family;
using poise::ModelParameters;
using poise::Regularizer;

struct CostCase {
  const char* name;
  double alpha;
  ModelParameters parameters;
};

const CostCase cost_cases[] = {
    {"full_rank", 1, {.family = Family::full_rank, .lambda = 100}},
    {"full_rank", 3, {.family = Family::full_rank, .lambda = 100}},
    {"wmf_32", 1, {.family = Family::wmf, .rank = 32, .lambda = 20}},
    {"wmf_32", 5, {.family = Family::wmf, .rank = 32, .lambda = 20}},
    {"wmf_128", 5, {.family = Family::wmf, .rank = 128, .lambda = 20}},
    {"weight_decay_64",
     3,
     {.family = Family::awmf, .regularizer = Regularizer::weight_decay, .rank = 64, .lambda = 20}},
    {"dropout_64",
     3,
     {.family = Family::awmf, .regularizer = Regularizer::dropout, .rank = 64, .lambda = 20}},
    {"data_weight_decay_64",
     3,
     {.family = Family::awmf, .regularizer = Regularizer::data_weight_decay, .rank = 64, .lambda = 20}},
};

constexpr std::int32_t cost_items = 4'000;

/// The entries of the first items.
poise::Csr costly_data() {
  const poise::Csr all = poise::synthesize({.shape = poise::SynthShape::ml_20m, .scale = 0.1}, {});
  poise::Csr some{.rows = all.rows, .cols = cost_items, .offsets = {0}};
  for (std::int64_t u = 0; u < all.rows; ++u) {
    for (const std::int32_t i : all.view().row(u)) {
      if (i < cost_items) some.indices.push_back(i);
    }
    some.offsets.push_back(some.entries());
  }
  return some;
}

void training_cost(benchmark::State& state) {
  const CostCase& chosen = cost_cases[state.range(0)];
  ModelParameters parameters = chosen.parameters;
  parameters.weighting.alpha = chosen.alpha;
  const poise::Csr X = costly_data();
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  poise::Trainer trainer(X.view(), poise::Keep::shared_parts, std::uint64_t{16} << 30U, *backend,
                         {.threads = 2});
  if (parameters.low_rank()) {
    ModelParameters first = parameters;
    first.rounds = 1;
    static_cast<void>(trainer.train(first));
  }
  for (auto _ : state) {
    const double expected = trainer.expected_seconds(parameters);
    poise::bench::Shortest time;
    time.time([&] { benchmark::DoNotOptimize(trainer.train(parameters)); });
    state.counters["expected_s"] = expected;
    state.counters["seconds"] = time.seconds();
    state.counters["ratio"] = expected / time.seconds();
  }
  state.SetLabel(std::string(chosen.name) + ", alpha " + std::to_string(static_cast<int>(chosen.alpha)));
}
BENCHMARK(training_cost)
    ->DenseRange(0, std::size(cost_cases) - 1)
    ->Iterations(1)
    ->Unit(benchmark::kSecond)
    ->UseRealTime();

}  // namespace
