// Training of the full-rank model at the ML-20M shape, end to end except loading and saving.
#include <fstream>
#include <string>

#include <benchmark/benchmark.h>

#include "poise/backend/resident.hpp"
#include "poise/data/synth.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/weighting/weighting.hpp"

#include "timing.hpp"

namespace {

/// The training users of the data that `poise synth --like ml-20m` prepares.
poise::Csr ml_20m_training() {
  poise::Csr x = poise::synthesize({.shape = poise::SynthShape::ml_20m}, {});
  x.rows = 109'343;
  x.offsets.resize(x.rows + 1);
  x.indices.resize(x.offsets.back());
  x.indices.shrink_to_fit();
  return x;
}

/// Bytes of this process: now (VmRSS), or the peak since it was reset (VmHWM).
double status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == key + ":" && status >> kilobytes) return 1024 * kilobytes;
  }
  return 0;
}
void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

/// ratio_to_t: seconds over t = n^3 / (flops a second of gemm on 2 threads in the same run). matrices: the
/// additional peak memory, in units of n^2 floats; without T if that is used.
void train(benchmark::State& state, double alpha, double memory_limit) {
  const poise::Csr x = ml_20m_training();
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  const poise::Weights weights = poise::make_weights(x.view(), {.alpha = alpha});
  poise::FullRankOptions options;
  options.lambda = 500;
  options.unconstrained = false;
  options.zero_diagonal = true;
  options.memory_limit = static_cast<std::uint64_t>(memory_limit);

  poise::bench::Shortest gemm;
  const std::int64_t size = 4'000;
  const poise::Matrix<float> left(size, size, 0.5F);
  poise::Matrix<float> product(size, size);
  const auto time_gemm = [&] {
    gemm.time([&] {
      backend->gemm(poise::Op::none, poise::Op::none, 1.0F, poise::Lent(*backend, left).view(),
                    poise::Lent(*backend, left).view(), 0.0F,
                    poise::Borrowed<float>(*backend, product.view()).view());
    });
  };
  poise::bench::Shortest run;
  const auto n = static_cast<double>(x.cols);
  for (auto _ : state) {
    time_gemm();
    const double before = status_bytes("VmRSS");
    forget_peak();
    run.time([&] {
      const poise::FullRankFit fit =
          poise::fit_full_rank(x.view(), weights, options, *backend, {.threads = 2});
      const poise::FullRankSolution& solution = fit.solutions.front();
      if (!solution.converged) state.SkipWithError("not converged");
      double whole = 0;
      for (const auto& [phase, seconds] : fit.seconds) {
        state.counters["s_" + phase] = seconds;
        whole += seconds;
      }
      state.counters["certificate_share"] = fit.seconds.at("certificate") / whole;
      state.counters["worst_column"] = solution.certificate.worst_column;
      state.counters["iterated_columns"] = static_cast<double>(fit.iterated_columns);
    });
    double beyond = status_bytes("VmHWM") - before;
    state.counters["peak_GB"] = 1e-9 * beyond;
    if (state.counters.contains("s_woodbury T")) beyond -= 4 * static_cast<double>(x.rows) * n;
    state.counters["matrices"] = beyond / (4 * n * n);
    time_gemm();
  }
  const double flops = 2 * static_cast<double>(size * size * size) / gemm.seconds();
  state.counters["seconds"] = run.seconds();
  state.counters["gemm_gflops"] = 1e-9 * flops;
  state.counters["ratio_to_t"] = run.seconds() * flops / (n * n * n);
}

void full_rank_unweighted(benchmark::State& state) { train(state, 1, 19e9); }
void full_rank_alpha_2(benchmark::State& state) { train(state, 2, 19e9); }
void full_rank_alpha_20(benchmark::State& state) { train(state, 20, 19e9); }
void full_rank_alpha_2_in_6_GB(benchmark::State& state) { train(state, 2, 6e9); }
BENCHMARK(full_rank_unweighted)->Iterations(1)->Unit(benchmark::kSecond)->UseRealTime();
BENCHMARK(full_rank_alpha_2)->Iterations(1)->Unit(benchmark::kSecond)->UseRealTime();
BENCHMARK(full_rank_alpha_20)->Iterations(1)->Unit(benchmark::kSecond)->UseRealTime();
BENCHMARK(full_rank_alpha_2_in_6_GB)->Iterations(1)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace
