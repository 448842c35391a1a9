#include <benchmark/benchmark.h>

#include "poise/linalg/csr.hpp"

namespace {

/// Transposing a 100 000 x 10 000 matrix of 100 entries a row, against copying its bytes once.
void transpose(benchmark::State& state) {
  poise::Csr matrix{.rows = 100'000, .cols = 10'000, .offsets = {0}};
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    for (std::int32_t k = 0; k < 100; ++k)
      matrix.indices.push_back(k * 100 + static_cast<std::int32_t>(r * 7919 % 100));
    matrix.offsets.push_back(matrix.entries());
  }
  for (auto _ : state) benchmark::DoNotOptimize(poise::transpose(matrix.view()));
  state.SetItemsProcessed(state.iterations() * matrix.entries());
}
BENCHMARK(transpose)->Unit(benchmark::kMillisecond);

}  // namespace
