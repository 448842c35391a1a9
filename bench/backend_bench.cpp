#include <algorithm>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>
#include <cblas.h>
#include <omp.h>

#include "poise/backend/backend.hpp"

#include "timing.hpp"

namespace {

poise::Matrix<float> random_matrix(std::int64_t rows, std::int64_t cols) {
  poise::Matrix<float> matrix(rows, cols);
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (float& value : matrix.row(r)) value = uniform(generator);
  }
  return matrix;
}

/// Users of very different activity, items of very different popularity.
poise::Csr long_tailed(std::int64_t users, std::int64_t items, double mean) {
  poise::Csr x{.rows = users, .cols = items, .offsets = {0}, .indices = {}, .values = {}};
  std::mt19937 generator(1);
  std::exponential_distribution<double> activity(1 / mean);
  std::uniform_real_distribution<double> uniform;
  std::vector<char> taken(items);
  for (std::int64_t u = 0; u < users; ++u) {
    std::fill(taken.begin(), taken.end(), 0);
    const auto draws = 1 + static_cast<std::int64_t>(activity(generator));
    for (std::int64_t d = 0; d < draws; ++d) {
      const double position = uniform(generator);
      taken[static_cast<std::int64_t>(position * position * position * static_cast<double>(items))] = 1;
    }
    for (std::int32_t i = 0; i < items; ++i) {
      if (taken[i] != 0) x.indices.push_back(i);
    }
    x.offsets.push_back(x.entries());
  }
  return x;
}

/// C = A B for square float matrices on 2 threads, and its rate over that of OpenBLAS' own threads.
void gemm(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const poise::Matrix<float> a = random_matrix(n, n);
  const poise::Matrix<float> b = random_matrix(n, n);
  poise::Matrix<float> c(n, n);
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  poise::bench::Shortest tiled;
  poise::bench::Shortest whole;
  for (auto _ : state) {
    tiled.time(
        [&] { backend->gemm(poise::Op::none, poise::Op::none, 1.0F, a.view(), b.view(), 0.0F, c.view()); });
    const int threads = omp_get_max_threads();
    omp_set_num_threads(2);
    whole.time([&] {
      const auto size = static_cast<blasint>(n);
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, a.view().data, size,
                  b.view().data, size, 0, c.view().data, size);
    });
    omp_set_num_threads(threads);
  }
  const double flops = 2e-9 * static_cast<double>(n * n * n);
  state.counters["gflops"] = flops / tiled.seconds();
  state.counters["openblas_gflops"] = flops / whole.seconds();
  state.counters["ratio_to_openblas"] = whole.seconds() / tiled.seconds();
}
BENCHMARK(gemm)->Arg(1000)->Arg(4000)->Iterations(4)->Unit(benchmark::kMillisecond)->UseRealTime();

/// X'X of 20 000 users x 10 000 items on 2 threads, in pairs of entries a second.
void gram(benchmark::State& state) {
  const poise::Csr x = long_tailed(20'000, 10'000, 80);
  const std::vector<float> weights(state.range(0) != 0 ? x.rows : 0, 0.5F);
  poise::Matrix<float> g(x.cols, x.cols);
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  for (auto _ : state) backend->gram(x.view(), weights, g.view());
  std::int64_t pairs = 0;
  for (std::int64_t u = 0; u < x.rows; ++u) pairs += x.view().row_size(u) * x.view().row_size(u);
  state.SetItemsProcessed(state.iterations() * pairs);
}
BENCHMARK(gram)->ArgName("weighted")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Y = X B with 2 000 users, 10 000 items and 10 000 columns on 2 threads, in multiply-adds a second.
void spmm(benchmark::State& state) {
  const poise::Csr x = long_tailed(2'000, 10'000, 80);
  const poise::Matrix<float> b = random_matrix(x.cols, 10'000);
  poise::Matrix<float> y(x.rows, b.cols());
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  for (auto _ : state) backend->spmm(x.view(), b.view(), y.view());
  state.SetItemsProcessed(state.iterations() * x.entries() * b.cols());
}
BENCHMARK(spmm)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
