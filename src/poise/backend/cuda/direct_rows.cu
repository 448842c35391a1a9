#include <algorithm>

#include "poise/backend/cuda/row_state.cuh"

// The direct route: D^-1/2 H D^-1/2 = I + sum c (D^-1/2 z)(D^-1/2 z)' by a Cholesky factorization in the
// GPU's memory, a block a row.

namespace poise::cuda {
namespace {

constexpr int threads = 256;
using DirectPass = WidePass<threads / 32>;

/// Floats of shared memory for rows of factors, and for vectors.
constexpr std::int64_t direct_floats = 1 << 14;

__device__ void form(const RowState<DirectPass>& state, float* K, float* staged) {
  const int d = state.d;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const auto most = static_cast<int>(direct_floats / d < 32 ? direct_floats / d : 32);
  const std::int64_t width = d;
  for (int i = warp; i < d; i += threads / 32) {
    for (int j = lane; j <= i; j += 32) K[i * width + j] = i == j ? 1.0F : 0.0F;
  }
  for (std::int64_t first = 0; first < state.entries.count; first += most) {
    const std::int64_t left = state.entries.count - first;
    const int size = left < most ? static_cast<int>(left) : most;
    __syncthreads();
    for (int e = warp; e < size; e += threads / 32) {
      const std::int64_t index = state.entries.indices[first + e];
      const float* const row = state.factors.data + index * state.factors.stride;
      for (int k = lane; k < d; k += 32) staged[e * d + k] = sqrtf(state.at(k).inverse) * row[k];
    }
    __syncthreads();
    for (int i = warp; i < d; i += threads / 32) {
      for (int j = lane; j <= i; j += 32) {
        float sum = 0;
        for (int e = 0; e < size; ++e)
          sum += state.entries.c[first + e] * staged[e * d + i] * staged[e * d + j];
        K[i * width + j] += sum;
      }
    }
  }
  __syncthreads();
}

/// K = LL', L in the lower triangle; false where a pivot is not positive. `column` holds d floats.
__device__ bool factor(float* K, int d, float* column) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const std::int64_t width = d;
  for (int j = 0; j < d; ++j) {
    const float square = K[j * width + j];
    if (!(square > 0) || !isfinite(square)) return false;
    const float pivot = sqrtf(square);
    for (int i = j + static_cast<int>(threadIdx.x); i < d; i += threads)
      column[i] = i == j ? pivot : K[i * width + j] / pivot;
    __syncthreads();
    for (int i = j + static_cast<int>(threadIdx.x); i < d; i += threads) K[i * width + j] = column[i];
    for (int i = j + 1 + warp; i < d; i += threads / 32) {
      const float own = column[i];
      for (int k = j + 1 + lane; k <= i; k += 32) K[i * width + k] -= own * column[k];
    }
    __syncthreads();
  }
  return true;
}

/// x <- (LL')^-1 x.
__device__ void solve_factored(const float* K, int d, float* x) {
  const std::int64_t width = d;
  for (int j = 0; j < d; ++j) {
    const float value = x[j] / K[j * width + j];
    __syncthreads();
    if (threadIdx.x == 0) x[j] = value;
    for (int i = j + 1 + static_cast<int>(threadIdx.x); i < d; i += threads) x[i] -= K[i * width + j] * value;
    __syncthreads();
  }
  for (int j = d - 1; j >= 0; --j) {
    const float value = x[j] / K[j * width + j];
    __syncthreads();
    if (threadIdx.x == 0) x[j] = value;
    for (int i = static_cast<int>(threadIdx.x); i < j; i += threads) x[i] -= K[j * width + i] * value;
    __syncthreads();
  }
}

__global__ void __launch_bounds__(threads) direct_kernel(Solve solve, float* scratch) {
  extern __shared__ double shared[];
  const std::int64_t d = solve.systems.factors.cols;
  float* const K = scratch + blockIdx.x * d * d;
  for (std::int64_t row = blockIdx.x; row < solve.systems.entries.rows; row += gridDim.x) {
    RowState<DirectPass> state(solve, row, shared);
    float* const staged = state.p + DirectPass::padded(d);
    RowOutcome outcome;
    state.begin();
    if (state.goes_on(outcome) && state.scalars.rz > state.target()) {
      bool solved = false;
      if (state.entries.c != nullptr) {
        form(state, K, staged);
        solved = factor(K, state.d, staged);
        __syncthreads();
      }
      if (solved) {
        for (int k = static_cast<int>(threadIdx.x); k < state.d; k += threads)
          staged[k] = sqrtf(state.at(k).inverse) * state.r[k];
        __syncthreads();
        solve_factored(K, state.d, staged);
        double gain = 0;
        for (int k = static_cast<int>(threadIdx.x); k < state.d; k += threads) {
          const float step = sqrtf(state.at(k).inverse) * staged[k];
          state.y[k] += step;
          gain += static_cast<double>(state.r[k]) * static_cast<double>(step);
        }
        state.scalars.explained += state.total(gain);
        state.scalars.steps = 1;
        outcome.direct = 1;
      } else {
        state.iterate();
      }
    }
    state.finish(outcome);
    __syncthreads();
  }
}
}  // namespace

void launch_direct(CudaBackend& backend, const Solve& solve) {
  const std::int64_t d = solve.systems.factors.cols;
  constexpr std::int64_t scratch_floats = std::int64_t{1} << 28;
  const std::int64_t blocks = std::clamp<std::int64_t>(
      scratch_floats / std::max<std::int64_t>(1, d * d), 1,
      std::min<std::int64_t>(solve.systems.entries.rows, 4 * backend.multiprocessors()));
  const Array<float> scratch(backend, blocks * d * d);
  launch("solving rows", direct_kernel, blocks, threads, RowState<DirectPass>::bytes(d) + 4 * direct_floats,
         backend.stream(), solve, scratch.data());
}

}  // namespace poise::cuda
