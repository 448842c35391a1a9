#include <benchmark/benchmark.h>

#include "poise/data/synth.hpp"
#include "poise/model/spectrum/spectrum.hpp"

#include "timing.hpp"

namespace {

/// The top 1000 eigenpairs of X'X at the ML-20M shape on 2 threads, which a closed form of rank 1000 needs.
void top_spectrum_ml_20m(benchmark::State& state) {
  const poise::Csr x = poise::synthesize({.shape = poise::SynthShape::ml_20m}, {});
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  poise::bench::Shortest run;
  for (auto _ : state) run.time([&] { poise::top_spectrum(x.view(), {}, 1000, *backend, {.threads = 2}); });
  state.counters["seconds"] = run.seconds();
}
BENCHMARK(top_spectrum_ml_20m)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
