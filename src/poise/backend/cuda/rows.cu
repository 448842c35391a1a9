#include <algorithm>
#include <memory>
#include <vector>

#include "poise/backend/cuda/row_pass.cuh"

namespace poise {
namespace cuda {
namespace {

constexpr int threads = 256;

// Classes of rows.

constexpr int bins = 40;
constexpr std::int64_t long_row = 1024;
constexpr std::int64_t middle_row = 96;

/// By class, and within a class by the length's power of two, long rows first.
__device__ int bin_of(std::int64_t size) {
  const int power = size == 0 ? 0 : 64 - __clzll(size);  // at most 31 for any list of 32-bit numbers
  if (size > long_row) return 31 - power;
  if (size > middle_row) return 31 - power + 1;  // 97 .. 1024 has powers of 7 to 11, at 21 and beyond
  return 31 - power + 2;
}

__global__ void count_bins_kernel(Sparse x, int* counts) {
  for (std::int64_t row = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; row < x.rows;
       row += static_cast<std::int64_t>(gridDim.x) * blockDim.x)
    atomicAdd(counts + bin_of(x.offsets[row + 1] - x.offsets[row]), 1);
}

/// Which of a bin's rows comes first changes no result.
__global__ void fill_bins_kernel(Sparse x, int* next, std::int32_t* rows) {
  for (std::int64_t row = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; row < x.rows;
       row += static_cast<std::int64_t>(gridDim.x) * blockDim.x)
    rows[atomicAdd(next + bin_of(x.offsets[row + 1] - x.offsets[row]), 1)] = static_cast<std::int32_t>(row);
}

// Solving.

/// What became of a row.
struct RowOutcome {
  double explained_before;
  double gain;
  double excess_before;
  int iterations;
  int direct;
};

struct Solve {
  Sparse entries;
  const float* c;
  const float* w;
  MatrixView<const float> factors;
  const double* sigma;
  const float* b;
  const double* lambdas;
  double lambda;
  double lowest;
  double relative;  ///< both times `lowest`
  double absolute;
  MatrixView<float> y;
  RowOutcome* outcomes;
};

struct Diagonal {
  float D;
  float inverse;
};

__device__ Diagonal diagonal(double b, double sigma, double lambda) {
  const auto D = static_cast<float>(b * sigma + lambda);
  const float inverse = 1 / D;
  if (!(D > 0) || !isfinite(inverse)) return {0, 0};
  return {D, inverse};
}

/// A block's row: what its vectors are and where they lie.
template <class Pass>
struct RowState {
  const Solve& solve;
  std::int64_t row;
  RowEntriesView entries;
  double b;
  double lambda;
  int d;
  double* sums;
  double* scratch;
  float* r;
  float* p;
  float* y;
  double explained = 0;
  double rz = 0;
  int iterations = 0;

  static std::int64_t bytes(std::int64_t d) { return Pass::bytes(d) + 8 * 32 + 8 * Pass::padded(d); }

  __device__ RowState(const Solve& all, std::int64_t number, double* shared)
      : solve(all),
        row(number),
        entries(row_entries(all.entries, all.c, all.w, number)),
        b(all.b == nullptr ? 1.0 : static_cast<double>(all.b[number])),
        lambda(all.lambdas == nullptr ? all.lambda : all.lambdas[number]),
        d(static_cast<int>(all.factors.cols)),
        sums(shared),
        scratch(shared + Pass::bytes(d) / 8),
        r(reinterpret_cast<float*>(scratch + 32)),
        p(r + Pass::padded(d)),
        y(all.y.data + number * all.y.stride) {}

  [[nodiscard]] __device__ Diagonal at(int k) const { return diagonal(b, solve.sigma[k], lambda); }
  [[nodiscard]] __device__ double target() const {
    return solve.relative * (explained > 0 ? explained : 0.0) + solve.absolute;
  }
  [[nodiscard]] __device__ double total(double value) const {
    return block_total<Pass::warps>(value, scratch);
  }

  /// r, rz, the first direction p and what the start explains.
  __device__ void begin() {
    constexpr int block = 32 * Pass::warps;
    const int padded = static_cast<int>(Pass::padded(d));
    for (int k = static_cast<int>(threadIdx.x); k < padded; k += block) {
      float value = 0;
      if (k < d) {
        value = at(k).D > 0 ? y[k] : 0.0F;
        y[k] = value;
      }
      p[k] = value;
      r[k] = 0;
    }
    block_sync<Pass::warps>();
    double part = Pass::template run<false>(entries, solve.factors, p, sums);
    double quadratic = 0;
    double dot = 0;
    for (int k = static_cast<int>(threadIdx.x); k < d; k += block) {
      const Diagonal own = at(k);
      const double Dy = static_cast<double>(own.D) * static_cast<double>(p[k]);
      quadratic += Dy * static_cast<double>(p[k]);
      r[k] = static_cast<float>(sums[k] - Dy);
      p[k] = r[k] * own.inverse;
      dot += static_cast<double>(r[k]) * static_cast<double>(p[k]);
    }
    explained = total(part - quadratic);
    rz = total(dot);
  }

  /// Conjugate gradients until the row is done.
  __device__ void iterate() {
    constexpr int block = 32 * Pass::warps;
    const std::int64_t smaller = entries.count < d ? entries.count : d;
    const int limit = 2 * smaller + 8 < 500 ? static_cast<int>(2 * smaller + 8) : 500;
    const bool corrected = entries.c != nullptr;
    RowEntriesView system = entries;
    system.w = nullptr;
    while (rz > target() && iterations < limit) {
      block_sync<Pass::warps>();
      if (corrected) Pass::template run<false>(system, solve.factors, p, sums);
      double dot = 0;
      for (int k = static_cast<int>(threadIdx.x); k < d; k += block) {
        const double Dp = static_cast<double>(at(k).D) * static_cast<double>(p[k]);
        const auto Hp = static_cast<float>(corrected ? Dp - sums[k] : Dp);
        sums[k] = static_cast<double>(Hp);
        dot += static_cast<double>(p[k]) * static_cast<double>(Hp);
      }
      const double curvature = total(dot);
      if (!(curvature > 0)) break;
      const double length = rz / curvature;
      explained += length * rz;
      const auto alpha = static_cast<float>(length);
      dot = 0;
      for (int k = static_cast<int>(threadIdx.x); k < d; k += block) {
        y[k] += alpha * p[k];
        r[k] -= alpha * static_cast<float>(sums[k]);
        const float z = r[k] * at(k).inverse;
        sums[k] = static_cast<double>(z);
        dot += static_cast<double>(r[k]) * static_cast<double>(z);
      }
      const double before = rz;
      rz = total(dot);
      const auto beta = static_cast<float>(rz / before);
      for (int k = static_cast<int>(threadIdx.x); k < d; k += block)
        p[k] = static_cast<float>(sums[k]) + beta * p[k];
      ++iterations;
    }
  }

  /// After begin(): false where the row is done already, `explained_before` noted either way.
  __device__ bool goes_on(RowOutcome& outcome) {
    outcome = {explained, 0, rz / solve.lowest, 0, 0};
    if (entries.count > 0) return true;
    // Nothing pulls at the row, so 0 is its solution, whatever tolerance it may have met.
    for (int k = static_cast<int>(threadIdx.x); k < d; k += 32 * Pass::warps) y[k] = 0;
    explained = 0;
    return false;
  }

  __device__ void finish(RowOutcome outcome) const {
    outcome.gain = explained - outcome.explained_before;
    outcome.iterations = iterations;
    if (threadIdx.x == 0) solve.outcomes[row] = outcome;
  }
};

template <class Pass>
__global__ void __launch_bounds__(32 * Pass::warps) solve_kernel(Solve solve, const std::int32_t* rows) {
  extern __shared__ double shared[];
  RowState<Pass> state(solve, rows[blockIdx.x], shared);
  RowOutcome outcome;
  state.begin();
  if (state.goes_on(outcome)) state.iterate();
  state.finish(outcome);
}

// The direct route: D^-1/2 H D^-1/2 = I + sum c (D^-1/2 z)(D^-1/2 z)' by a Cholesky factorization in the
// GPU's memory, a block a row.

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
      const float* const row = state.solve.factors.data + index * state.solve.factors.stride;
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
  const std::int64_t d = solve.factors.cols;
  float* const K = scratch + blockIdx.x * d * d;
  for (std::int64_t row = blockIdx.x; row < solve.entries.rows; row += gridDim.x) {
    RowState<DirectPass> state(solve, row, shared);
    float* const staged = state.p + DirectPass::padded(d);
    RowOutcome outcome;
    state.begin();
    if (state.goes_on(outcome) && state.rz > state.target()) {
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
        state.explained += state.total(gain);
        state.iterations = 1;
        outcome.direct = 1;
      } else {
        state.iterate();
      }
    }
    state.finish(outcome);
    __syncthreads();
  }
}

// Totals: a block adds up a fixed number of rows, the host the blocks.

constexpr std::int64_t rows_per_total = 4096;

struct Total {
  double explained_before;
  double gain;
  double excess_before;
  long long iterations;
  long long direct;
  int most_iterations;
  int unused;
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
    sum.most_iterations = max(sum.most_iterations, outcome.iterations);
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
         RowState<Pass>::bytes(solve.factors.cols), stream, solve, rows);
}

/// With fewer warps where a block has too little shared memory for so many.
template <int W>
void launch_solve_by_width(const Solve& solve, const std::int32_t* rows, std::int64_t count,
                           cudaStream_t stream, std::int64_t shared_bytes) {
  bool started = false;
  with_narrow_pass<W>(solve.factors.cols, [&](auto pass) {
    using Pass = decltype(pass);
    if (RowState<Pass>::bytes(solve.factors.cols) > shared_bytes) return;
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

void launch_direct(CudaBackend& backend, const Solve& solve) {
  const std::int64_t d = solve.factors.cols;
  constexpr std::int64_t scratch_floats = std::int64_t{1} << 28;
  const std::int64_t blocks =
      std::clamp<std::int64_t>(scratch_floats / std::max<std::int64_t>(1, d * d), 1,
                               std::min<std::int64_t>(solve.entries.rows, 4 * backend.multiprocessors()));
  const Array<float> scratch(backend, blocks * d * d);
  launch("solving rows", direct_kernel, blocks, threads, RowState<DirectPass>::bytes(d) + 4 * direct_floats,
         backend.stream(), solve, scratch.data());
}

// Checking, in float64.

/// Row first + blockIdx.x of v: sum_e (w_e - c_e z_e . v) z_e into a row of `sums`, and what it explains
/// without D.
template <class Pass>
__global__ void __launch_bounds__(32 * Pass::warps)
    residual_kernel(Sparse entries, const float* c, const float* w, MatrixView<const float> factors,
                    MatrixView<const float> v, std::int64_t first, MatrixView<double> out,
                    double* explained) {
  extern __shared__ double shared[];
  const int d = static_cast<int>(factors.cols);
  double* const scratch = shared + Pass::bytes(d) / 8;
  float* const x = reinterpret_cast<float*>(scratch + 32);
  const std::int64_t row = first + blockIdx.x;
  const int padded = static_cast<int>(Pass::padded(d));
  for (int k = static_cast<int>(threadIdx.x); k < padded; k += 32 * Pass::warps)
    x[k] = k < d ? v.data[row * v.stride + k] : 0.0F;
  block_sync<Pass::warps>();
  const double part = Pass::template run<true>(row_entries(entries, c, w, row), factors, x, shared);
  for (int k = static_cast<int>(threadIdx.x); k < d; k += 32 * Pass::warps)
    out.data[blockIdx.x * out.stride + k] = shared[k];
  const double total = block_total<Pass::warps>(part, scratch);
  if (threadIdx.x == 0) explained[blockIdx.x] = total;
}

template <class Pass>
std::int64_t residual_bytes(std::int64_t d) {
  return Pass::bytes(d) + 8 * 32 + 4 * Pass::padded(d);
}

/// A warp a row: what it explains and r'D^-1 r, in the rotated basis.
__global__ void excess_kernel(MatrixView<const double> sums, MatrixView<const double> y, const double* sigma,
                              const float* b, const double* lambdas, double one_lambda, std::int64_t first,
                              double* explained, double* excess) {
  const std::int64_t k = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / 32;
  if (k >= sums.rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const double own_b = b == nullptr ? 1.0 : static_cast<double>(b[first + k]);
  const double lambda = lambdas == nullptr ? one_lambda : lambdas[first + k];
  double quadratic = 0;
  double left = 0;
  for (std::int64_t j = lane; j < sums.cols; j += 32) {
    const double D = own_b * sigma[j] + lambda;
    const double value = y.data[k * y.stride + j];
    const double r = sums.data[k * sums.stride + j] - D * value;
    quadratic += D * value * value;
    if (D > 0) left += r * r / D;
  }
  quadratic = warp_total(quadratic);
  left = warp_total(left);
  if (lane == 0) {
    explained[k] -= quadratic;
    excess[k] = left;
  }
}

}  // namespace

const RowClasses& row_classes(CudaBackend& backend, const SparseCopy& copy) {
  if (copy.classes != nullptr) return *copy.classes;
  const Sparse& x = copy.view;
  auto classes = std::make_shared<RowClasses>();
  if (x.rows > 0) {
    const Array<int> counts(backend, bins);
    check(cudaMemsetAsync(counts.data(), 0, bins * sizeof(int), backend.stream()), "ordering rows");
    const unsigned blocks = std::min(grid(x.rows, threads), 1024U);
    count_bins_kernel<<<blocks, threads, 0, backend.stream()>>>(x, counts.data());
    check_launch("ordering rows");
    std::vector<int> sizes(bins);
    backend.download(counts, std::span(sizes));
    std::vector<int> begins(bins + 1);
    for (int k = 0; k < bins; ++k) begins[k + 1] = begins[k] + sizes[k];
    const Array<int> next = backend.upload(std::span<const int>(begins));
    classes->rows = Array<std::int32_t>(backend, x.rows);
    fill_bins_kernel<<<blocks, threads, 0, backend.stream()>>>(x, next.data(), classes->rows.data());
    check_launch("ordering rows");
    // See bin_of: rows beyond 1024 entries end with bin 31 - 11, those beyond 96 with bin 31 - 7 + 1.
    classes->begin[1] = begins[21];
    classes->begin[2] = begins[26];
    classes->begin[3] = x.rows;
  }
  copy.classes = classes;
  return *copy.classes;
}

}  // namespace cuda

RowsSolved CudaBackend::solve_rows(const RowSystems& systems, MatrixView<float> y, RowTolerance tolerance,
                                   RowRoute route) {
  stop_if_asked(observer_);
  if (y.rows == 0) return {};
  CsrView support = systems.entries;
  support.values = {};
  const auto entries = sparse(support);
  const cuda::Staged<const float> staged(*this, systems.factors);
  const cuda::AlignedFactors factors(*this, staged.view());
  const cuda::StagedSpan<const float> c(*this, systems.c);
  const cuda::StagedSpan<const float> w(*this, systems.w);
  const cuda::StagedSpan<const float> b(*this, systems.b);
  const cuda::StagedSpan<const double> sigma(*this, systems.sigma);
  const cuda::StagedSpan<const double> lambdas(*this, systems.lambdas);
  cuda::Staged<float> out(*this, y);
  const cuda::Array<cuda::RowOutcome> outcomes(*this, y.rows);
  const cuda::Solve solve{.entries = entries->view,
                          .c = c.data(),
                          .w = w.data(),
                          .factors = factors.view(),
                          .sigma = sigma.data(),
                          .b = b.data(),
                          .lambdas = lambdas.data(),
                          .lambda = systems.lambda,
                          .lowest = systems.lowest,
                          .relative = tolerance.relative * systems.lowest,
                          .absolute = tolerance.absolute * systems.lowest,
                          .y = out.view(),
                          .outcomes = outcomes.data()};
  if (route == RowRoute::direct && c.data() != nullptr) {
    cuda::launch_direct(*this, solve);
  } else {
    const cuda::RowClasses& classes = cuda::row_classes(*this, *entries);
    cuda::for_each_class(
        *this, classes, [&](int k, const std::int32_t* rows, std::int64_t count, cudaStream_t stream) {
          if (k == 0) {
            cuda::launch_solve_by_width<cuda::long_class_warps>(solve, rows, count, stream, shared_bytes_);
          } else if (k == 1) {
            cuda::launch_solve_by_width<cuda::middle_class_warps>(solve, rows, count, stream, shared_bytes_);
          } else {
            cuda::launch_solve_by_width<1>(solve, rows, count, stream, shared_bytes_);
          }
        });
  }
  const RowsSolved solved = cuda::total_of(*this, outcomes);
  out.give_back();
  return solved;
}

RowsChecked CudaBackend::check_rows(const RowSystems& systems, MatrixView<const float> v,
                                    MatrixView<const double> E, MatrixView<const double> E_inverse) {
  stop_if_asked(observer_);
  if (v.rows == 0) return {};
  const std::int64_t d = v.cols;
  CsrView support = systems.entries;
  support.values = {};
  const auto entries = sparse(support);
  const cuda::Staged<const float> staged(*this, systems.factors);
  const cuda::AlignedFactors factors(*this, staged.view());
  const cuda::StagedSpan<const float> c(*this, systems.c);
  const cuda::StagedSpan<const float> w(*this, systems.w);
  const cuda::StagedSpan<const float> b(*this, systems.b);
  const cuda::StagedSpan<const double> sigma(*this, systems.sigma);
  const cuda::StagedSpan<const double> lambdas(*this, systems.lambdas);
  const cuda::Staged<const float> rows(*this, v);
  const cuda::Staged<const double> rotation(*this, E);
  const cuda::Staged<const double> back(*this, E_inverse);
  const std::int64_t stride = (d + 15) / 16 * 16;
  const std::int64_t tile =
      std::clamp<std::int64_t>((std::int64_t{1} << 26) / std::max<std::int64_t>(1, stride), 1, v.rows);
  const int blocks = E.rows > 0 ? 4 : 2;
  cuda::Array<double> memory[4];
  MatrixView<double> block[4];
  for (int k = 0; k < blocks; ++k) {
    memory[k] = cuda::Array<double>(*this, tile * stride);
    block[k] = {memory[k].data(), tile, d, stride};
  }
  const cuda::Array<double> explained(*this, v.rows);
  const cuda::Array<double> excess(*this, v.rows);
  for (std::int64_t first = 0; first < v.rows; first += tile) {
    stop_if_asked(observer_);
    const std::int64_t count = std::min(tile, v.rows - first);
    MatrixView<double> sums = block[0].block(0, count);
    MatrixView<double> y = block[1].block(0, count);
    const auto residual = [&](auto pass) {
      using Pass = decltype(pass);
      cuda::launch("checking rows", cuda::residual_kernel<Pass>, count, 32 * Pass::warps,
                   cuda::residual_bytes<Pass>(d), stream_, entries->view, c.data(), w.data(), factors.view(),
                   rows.view(), first, sums, explained.data() + first);
    };
    if (!cuda::with_narrow_pass<4>(d, residual)) residual(cuda::WidePass<8>());
    copy(rows.view().block(first, count), y);
    if (E.rows > 0) {
      gemm(Op::none, Op::none, 1.0, sums, rotation.view(), 0.0, block[2].block(0, count));
      gemm(Op::none, Op::transpose, 1.0, y, back.view(), 0.0, block[3].block(0, count));
      sums = block[2].block(0, count);
      y = block[3].block(0, count);
    }
    cuda::excess_kernel<<<cuda::grid(count * 32, cuda::threads), cuda::threads, 0, stream_>>>(
        sums, y, sigma.data(), b.data(), lambdas.data(), systems.lambda, first, explained.data() + first,
        excess.data() + first);
    cuda::check_launch("checking rows");
  }
  std::vector<double> explained_of(v.rows);
  std::vector<double> excess_of(v.rows);
  download(explained, std::span(explained_of));
  download(excess, std::span(excess_of));
  RowsChecked checked;
  for (std::int64_t i = 0; i < v.rows; ++i) {
    checked.explained += explained_of[i];
    checked.excess += excess_of[i] / systems.lowest;
  }
  return checked;
}

}  // namespace poise
