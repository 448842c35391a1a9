#include <cmath>

#include <benchmark/benchmark.h>

#include "poise/backend/resident.hpp"
#include "poise/data/synth.hpp"
#include "poise/model/asymmetric/fit.hpp"
#include "poise/model/asymmetric/steps.hpp"
#include "poise/weighting/weighting.hpp"

#include "timing.hpp"

namespace {

/// The training part of ML-20M: 109 342 x 20 108, 8 million interactions.
poise::Csr ml_20m(double scale, const poise::Execution& execution) {
  return poise::synthesize({.shape = poise::SynthShape::ml_20m, .scale = scale}, execution);
}

/// The first round of a fit with dropout and alpha = 2 on 2 threads, once the spectrum exists (inner solves
/// to 1e-3 of the explained weight, acceleration included), and the share of it that as many products with an
/// n x n inverse would be.
void asymmetric_round(benchmark::State& state) {
  const poise::Execution execution{.threads = 2};
  const poise::Csr X = ml_20m(0.8, execution);
  const poise::Weights W = poise::make_weights(X.view(), {.scheme = poise::Scheme::constant, .alpha = 2});
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  poise::AsymmetricOptions options;
  options.regularizer = poise::Regularizer::dropout;
  options.rank = state.range(0);
  options.lambda = 500;
  options.rounds = 2;
  options.tolerance = 1e-3;
  const poise::Spectrum spectrum = poise::top_spectrum(X.view(), {}, options.rank, *backend, execution);
  poise::LowRankFit fit;
  for (auto _ : state) fit = poise::fit_asymmetric(X.view(), W, options, spectrum, *backend, execution);

  const double round = fit.trace[1].seconds - fit.trace[0].seconds - fit.seconds["items x items"];
  const poise::Matrix<float> A(X.cols, X.cols, 1.0F);
  const poise::Matrix<float> B(X.cols, options.rank, 1.0F);
  poise::Matrix<float> product(X.cols, options.rank);
  poise::bench::Shortest gemm;
  for (int repeat = 0; repeat < 2; ++repeat) {
    gemm.time([&] {
      backend->gemm(poise::Op::none, poise::Op::none, 1.0F, poise::Lent(*backend, A).view(),
                    poise::Lent(*backend, B).view(), 0.0F,
                    poise::Borrowed<float>(*backend, product.view()).view());
    });
  }
  state.counters["seconds_per_round"] = round;
  state.counters["iterations"] = static_cast<double>(fit.trace[1].iterations);
  state.counters["gemm_seconds"] = gemm.seconds();
  state.counters["inverse_share"] = static_cast<double>(fit.trace[1].iterations + 1) * gemm.seconds() / round;
}
BENCHMARK(asymmetric_round)->Name("asymmetric_round_100")->Arg(100)->Iterations(1)->UseRealTime();
BENCHMARK(asymmetric_round)->Name("asymmetric_round_1000")->Arg(1000)->Iterations(1)->UseRealTime();

/// H(P) of the U step at rank 100 on 2 threads: how its time grows with the interactions, and its rate in
/// operations on entries.
void kronecker_apply(benchmark::State& state) {
  constexpr std::int64_t d = 100;
  const poise::Execution execution{.threads = 2};
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  double seconds[2] = {};
  double entries[2] = {};
  for (auto _ : state) {
    for (int k = 0; k < 2; ++k) {
      const poise::Csr X = ml_20m(k == 0 ? 0.2 : 0.8, execution);
      const poise::Weights W = poise::make_weights(X.view(), {.scheme = poise::Scheme::constant, .alpha = 2});
      const auto problem =
          poise::make_asymmetric_problem(X.view(), W, poise::Regularizer::dropout, 100, *backend, execution);
      const poise::Resident<float> V(*backend, poise::Matrix<float>(X.cols, d, 0.01F));
      const std::vector<double> nu(d, 1.0);
      const poise::UProblem system{.X = problem.X,
                                   .X_transposed = problem.X_transposed(),
                                   .entries = &problem.users,
                                   .a = {},
                                   .V = V.view(),
                                   .nu = nu,
                                   .lambda = 100,
                                   .data_metric = false};
      poise::KroneckerSystem H(system, *backend);
      const poise::Resident<float> P(*backend, poise::Matrix<float>(1, X.cols * d, 0.01F));
      poise::Resident<float> out(*backend, 1, X.cols * d);
      poise::bench::Shortest shortest;
      for (int repeat = 0; repeat < 5; ++repeat) {
        shortest.time([&] { H.apply({{}, P.view()}, out.view()); });
      }
      seconds[k] = shortest.seconds();
      entries[k] = static_cast<double>(X.entries());
    }
  }
  state.counters["slope_in_entries"] = std::log(seconds[1] / seconds[0]) / std::log(entries[1] / entries[0]);
  state.counters["seconds"] = seconds[1];
  state.counters["gflops"] = 8e-9 * entries[1] * static_cast<double>(d) / seconds[1];
}
BENCHMARK(kronecker_apply)->Iterations(1)->UseRealTime();

}  // namespace
