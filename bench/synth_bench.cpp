#include <benchmark/benchmark.h>

#include "poise/data/synth.hpp"

namespace {

/// Ten million interactions of the ML-20M shape, on all cores.
void synthesize_ml_20m(benchmark::State& state) {
  std::int64_t entries = 0;
  for (auto _ : state) {
    const poise::Csr matrix = poise::synthesize({.shape = poise::SynthShape::ml_20m}, {});
    entries += matrix.entries();
    benchmark::DoNotOptimize(matrix.indices.data());
  }
  state.SetItemsProcessed(entries);
}
BENCHMARK(synthesize_ml_20m)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
