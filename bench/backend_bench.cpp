#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>
#include <cblas.h>
#include <omp.h>

#include "poise/backend/resident.hpp"
#include "poise/data/synth.hpp"

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
  poise::Csr x{.rows = users, .cols = items, .offsets = {0}};
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
  poise::Resident<float> product(*backend, n, n);
  poise::bench::Shortest tiled;
  poise::bench::Shortest whole;
  for (auto _ : state) {
    tiled.time([&] {
      backend->gemm(poise::Op::none, poise::Op::none, 1.0F, poise::Lent(*backend, a).view(),
                    poise::Lent(*backend, b).view(), 0.0F, product.view());
    });
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
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  poise::Resident<float> g(*backend, x.cols, x.cols);
  for (auto _ : state) backend->gram(x.view(), weights, g.view());
  std::int64_t pairs = 0;
  for (std::int64_t u = 0; u < x.rows; ++u) pairs += x.view().row_size(u) * x.view().row_size(u);
  state.SetItemsProcessed(state.iterations() * pairs);
}
BENCHMARK(gram)->ArgName("weighted")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

/// X'X at the ML-20M shape on 2 threads.
void gram_ml_20m(benchmark::State& state) {
  const poise::Csr x = poise::synthesize({.shape = poise::SynthShape::ml_20m}, {});
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  poise::Resident<float> g(*backend, x.cols, x.cols);
  poise::bench::Shortest run;
  for (auto _ : state) run.time([&] { backend->gram(x.view(), {}, g.view()); });
  state.counters["seconds"] = run.seconds();
}
BENCHMARK(gram_ml_20m)->Iterations(2)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Y = X B at the ML-20M shape with a tenth of B's columns, on 2 threads; seconds_all is the time that all
/// 20 108 columns (X A^-1) would take at this rate.
void spmm(benchmark::State& state) {
  const poise::Csr x = poise::synthesize({.shape = poise::SynthShape::ml_20m}, {});
  const poise::Matrix<float> b = random_matrix(x.cols, 2'048);
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  poise::Resident<float> y(*backend, x.rows, b.cols());
  poise::bench::Shortest run;
  for (auto _ : state) run.time([&] { backend->spmm(x.view(), poise::Lent(*backend, b).view(), y.view()); });
  const double per_second = static_cast<double>(x.entries() * b.cols()) / run.seconds();
  state.counters["Gmadds_per_s"] = 1e-9 * per_second;
  state.counters["seconds_all"] = static_cast<double>(x.entries() * x.cols) / per_second;
}
BENCHMARK(spmm)->Iterations(3)->Unit(benchmark::kMillisecond)->UseRealTime();

/// t = n^3 / (flops a second of gemm on 2 threads in the same run); LAPACK's potrf and potri take 1.65 t.
void measure_inverse(benchmark::State& state, std::int64_t n) {
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 2);
  const std::int64_t size = 4'000;
  const poise::Matrix<float> left = random_matrix(size, size);
  poise::Resident<float> product(*backend, size, size);
  poise::bench::Shortest gemm_run;
  const auto time_gemm = [&] {
    gemm_run.time([&] {
      backend->gemm(poise::Op::none, poise::Op::none, 1.0F, poise::Lent(*backend, left).view(),
                    poise::Lent(*backend, left).view(), 0.0F, product.view());
    });
  };
  const poise::Matrix<float> v = random_matrix(1, n);
  poise::bench::Shortest inverse_run;
  for (auto _ : state) {
    time_gemm();
    poise::Matrix<float> a(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) a(i, j) = v(0, i) * v(0, j);
      a(i, i) += 2;
    }
    poise::Resident<float> inverse(*backend, std::move(a));
    inverse_run.time([&] {
      if (!backend->invert_spd(inverse.view()).positive_definite) state.SkipWithError("not inverted");
    });
    time_gemm();
  }
  const double flops = 2 * static_cast<double>(size * size * size) / gemm_run.seconds();
  const double cube = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  state.counters["seconds"] = inverse_run.seconds();
  state.counters["gemm_gflops"] = 1e-9 * flops;
  state.counters["ratio_to_t"] = inverse_run.seconds() * flops / cube;
}

void invert_spd(benchmark::State& state) { measure_inverse(state, state.range(0)); }
BENCHMARK(invert_spd)->Arg(2'000)->Arg(10'000)->Iterations(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void invert_spd_20108(benchmark::State& state) { measure_inverse(state, 20'108); }
BENCHMARK(invert_spd_20108)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

/// 64 columns at the ML-20M shape, from the most popular down, on one thread: entries gathered and scattered
/// a second, and their rate over that of a loop that only gathers from the same lists.
void column_hessian(benchmark::State& state) {
  const poise::Csr x = poise::synthesize({.shape = poise::SynthShape::ml_20m}, {});
  const poise::Csr columns = poise::transpose(x.view());
  std::vector<std::int32_t> order(x.cols);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t i, std::int32_t j) {
    return columns.view().row_size(i) > columns.view().row_size(j);
  });
  std::vector<std::int32_t> items;
  for (int s = 0; s < 64; ++s) items.push_back(order[40 * s]);
  const poise::Matrix<float> p = random_matrix(64, x.cols);
  const auto backend = poise::make_backend(poise::BackendKind::cpu, 1);
  poise::Resident<float> out(*backend, 64, x.cols);
  poise::bench::Shortest hessian_run;
  poise::bench::Shortest gather_run;
  std::int64_t entries = 0;
  for (auto _ : state) {
    hessian_run.time([&] {
      backend->column_hessian(x.view(), columns.view(), items, poise::Lent(*backend, p).view(), out.view());
    });
    entries = 0;
    gather_run.time([&] {
      for (std::int64_t s = 0; s < 64; ++s) {
        float sums[4] = {};
        const float* const source = p.row(s).data();
        for (const std::int32_t u : columns.view().row(items[s])) {
          const auto row = x.view().row(u);
          entries += x.view().row_size(u);
          for (std::size_t e = 0; e < row.size(); ++e) sums[e % 4] += source[row[e]];
        }
        benchmark::DoNotOptimize(sums);
      }
    });
  }
  state.counters["Gentries_per_s"] = 1e-9 * static_cast<double>(entries) / hessian_run.seconds();
  state.counters["ratio_to_gather"] = gather_run.seconds() / hessian_run.seconds();
}
BENCHMARK(column_hessian)->Iterations(3)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
