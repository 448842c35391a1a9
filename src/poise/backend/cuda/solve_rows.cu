#include <algorithm>
#include <vector>

#include "poise/backend/cuda/row_state.cuh"

namespace poise {
namespace cuda {
namespace {

constexpr int threads = 256;

template <class Pass>
__global__ void __launch_bounds__(32 * Pass::warps, Pass::resident_blocks)
    solve_kernel(Solve solve, const std::int32_t* rows) {
  extern __shared__ double shared[];
  RowState<Pass> state(solve, rows[blockIdx.x], shared);
  RowOutcome outcome;
  state.begin();
  if (state.goes_on(outcome)) state.iterate();
  state.finish(outcome);
}

// Totals: a block adds up a fixed number of rows, the host the blocks.

constexpr std::int64_t rows_per_total = 4096;

struct Total {
  double explained_before;
  double gain;
  double excess_before;
  long long iterations;
  long long direct;
  long long most_iterations;
};

__global__ void total_kernel(const RowOutcome* outcomes, std::int64_t rows, Total* totals) {
  __shared__ Total parts[threads];
  const std::int64_t first = blockIdx.x * rows_per_total;
  const std::int64_t last = first + rows_per_total < rows ? first + rows_per_total : rows;
  Total sum = {};
  for (std::int64_t row = first + threadIdx.x; row < last; row += threads) {
    const RowOutcome& outcome = outcomes[row];
    sum.explained_before += outcome.explained_before;
    sum.gain += outcome.gain;
    sum.excess_before += outcome.excess_before;
    sum.iterations += outcome.iterations;
    sum.direct += outcome.direct;
    sum.most_iterations = max(sum.most_iterations, static_cast<long long>(outcome.iterations));
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) {
      Total& own = parts[threadIdx.x];
      const Total& other = parts[threadIdx.x + half];
      own.explained_before += other.explained_before;
      own.gain += other.gain;
      own.excess_before += other.excess_before;
      own.iterations += other.iterations;
      own.direct += other.direct;
      own.most_iterations = max(own.most_iterations, other.most_iterations);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = parts[0];
}

RowsSolved total_of(CudaBackend& backend, const Array<RowOutcome>& outcomes) {
  const std::int64_t rows = outcomes.size();
  const std::int64_t blocks = (rows + rows_per_total - 1) / rows_per_total;
  const Array<Total> totals(backend, blocks);
  total_kernel<<<static_cast<unsigned>(blocks), threads, 0, backend.stream()>>>(outcomes.data(), rows,
                                                                                totals.data());
  check_launch("adding up rows");
  std::vector<Total> parts(blocks);
  backend.download(totals, std::span(parts));
  RowsSolved solved;
  for (const Total& part : parts) {
    solved.explained_before += part.explained_before;
    solved.gain += part.gain;
    solved.excess_before += part.excess_before;
    solved.iterations += part.iterations;
    solved.direct_rows += part.direct;
    solved.most_iterations = std::max<std::int64_t>(solved.most_iterations, part.most_iterations);
  }
  return solved;
}

template <class Pass>
void launch_solve(const Solve& solve, const std::int32_t* rows, std::int64_t count, cudaStream_t stream) {
  launch("solving rows", solve_kernel<Pass>, count, 32 * Pass::warps,
         RowState<Pass>::bytes(solve.systems.factors.cols), stream, solve, rows);
}

/// With fewer warps if a block has too little shared memory for W.
template <int W>
void launch_solve_by_width(const Solve& solve, const std::int32_t* rows, std::int64_t count,
                           cudaStream_t stream, std::int64_t shared_bytes) {
  bool started = false;
  with_narrow_pass<W>(solve.systems.factors.cols, [&](auto pass) {
    using Pass = decltype(pass);
    if (RowState<Pass>::bytes(solve.systems.factors.cols) > shared_bytes) return;
    launch_solve<Pass>(solve, rows, count, stream);
    started = true;
  });
  if (started) return;
  if constexpr (W > middle_class_warps) {
    launch_solve_by_width<middle_class_warps>(solve, rows, count, stream, shared_bytes);
  } else {
    launch_solve<WidePass<8>>(solve, rows, count, stream);
  }
}

}  // namespace
}  // namespace cuda

RowsSolved CudaBackend::solve_rows(const RowSystems& systems, Out<float> y, RowTolerance tolerance,
                                   RowRoute route) {
  stop_if_asked(observer_);
  if (y.rows == 0) return {};
  const cuda::StagedRowSystems staged(*this, systems);
  const cuda::Array<cuda::RowOutcome> outcomes(*this, y.rows);
  const cuda::Solve solve{.systems = staged.view(),
                          .lowest = systems.lowest,
                          .condition = systems.highest / systems.lowest,
                          .counted = route == RowRoute::counted,
                          .relative = tolerance.relative * systems.lowest,
                          .absolute = tolerance.absolute * systems.lowest,
                          .y = y,
                          .outcomes = outcomes.data()};
  if (route == RowRoute::direct && solve.systems.c != nullptr) {
    cuda::launch_direct(*this, solve);
  } else {
    const cuda::RowClasses& classes = cuda::row_classes(*this, staged.entries());
    cuda::for_each_class(*this, classes,
                         [&](auto warps, const std::int32_t* rows, std::int64_t count, cudaStream_t stream) {
                           cuda::launch_solve_by_width<warps()>(solve, rows, count, stream, shared_bytes());
                         });
  }
  return cuda::total_of(*this, outcomes);
}

}  // namespace poise
