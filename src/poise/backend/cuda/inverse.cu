#include <cmath>
#include <random>
#include <vector>

#include "poise/backend/cuda/cuda_backend.hpp"

namespace poise {
namespace cuda {
namespace {

constexpr int threads = 256;

/// y = A x / norm, a block a row, in float64.
template <class T>
__global__ void apply_kernel(MatrixView<const T> a, const double* x, double norm, double* y) {
  __shared__ double warps[threads / 32];
  const T* const row = a.data + blockIdx.x * a.stride;
  double sum = 0;
  for (std::int64_t j = threadIdx.x; j < a.cols; j += threads) sum += static_cast<double>(row[j]) * x[j];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffU, sum, offset);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double total = 0;
  for (const double part : warps) total += part;
  y[blockIdx.x] = total / norm;
}

/// Column-major lower is row-major upper: what is there goes to the other side too.
template <class T>
__global__ void mirror_kernel(MatrixView<T> a) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= a.cols) return;
  for (std::int64_t i = blockIdx.y; i < a.rows; i += gridDim.y) {
    if (j > i) a.data[j * a.stride + i] = a.data[i * a.stride + j];
  }
}

/// As on the CPU: from below, by power iteration from a fixed vector; not finite where an entry is not.
template <class T>
double largest_eigenvalue(CudaBackend& backend, MatrixView<const T> a) {
  constexpr int steps = 12;
  std::mt19937 random(1);
  std::vector<double> start(a.rows);
  for (double& entry : start) entry = (random() & 1U) != 0 ? 1 : -1;
  Array<double> x = backend.upload(std::span<const double>(start));
  Array<double> y(backend, a.rows);
  double norm = std::sqrt(static_cast<double>(a.rows));
  double value = 0;
  for (int step = 0; step < steps && norm > 0; ++step) {
    apply_kernel<<<static_cast<unsigned>(a.rows), threads, 0, backend.stream()>>>(a, x.data(), norm,
                                                                                  y.data());
    check_launch("a power iteration");
    std::swap(x, y);
    const MatrixView<const double> row{x.data(), 1, a.rows, a.rows};
    double squares = 0;
    backend.row_dots(row, row, std::span(&squares, 1));
    norm = std::sqrt(squares);
    value = norm;
  }
  return value;
}

cusolverStatus_t factor_size(cusolverDnHandle_t solver, int n, float* a, int lda, int* size) {
  return cusolverDnSpotrf_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, n, a, lda, size);
}
cusolverStatus_t factor_size(cusolverDnHandle_t solver, int n, double* a, int lda, int* size) {
  return cusolverDnDpotrf_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, n, a, lda, size);
}
cusolverStatus_t inverse_size(cusolverDnHandle_t solver, int n, float* a, int lda, int* size) {
  return cusolverDnSpotri_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, n, a, lda, size);
}
cusolverStatus_t inverse_size(cusolverDnHandle_t solver, int n, double* a, int lda, int* size) {
  return cusolverDnDpotri_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, n, a, lda, size);
}
cusolverStatus_t factor(cusolverDnHandle_t solver, int n, float* a, int lda, float* work, int size,
                        int* info) {
  return cusolverDnSpotrf(solver, CUBLAS_FILL_MODE_LOWER, n, a, lda, work, size, info);
}
cusolverStatus_t factor(cusolverDnHandle_t solver, int n, double* a, int lda, double* work, int size,
                        int* info) {
  return cusolverDnDpotrf(solver, CUBLAS_FILL_MODE_LOWER, n, a, lda, work, size, info);
}
cusolverStatus_t invert(cusolverDnHandle_t solver, int n, float* a, int lda, float* work, int size,
                        int* info) {
  return cusolverDnSpotri(solver, CUBLAS_FILL_MODE_LOWER, n, a, lda, work, size, info);
}
cusolverStatus_t invert(cusolverDnHandle_t solver, int n, double* a, int lda, double* work, int size,
                        int* info) {
  return cusolverDnDpotri(solver, CUBLAS_FILL_MODE_LOWER, n, a, lda, work, size, info);
}

template <class T>
SpdInverse inverse_of(CudaBackend& backend, MatrixView<T> given) {
  if (given.rows == 0) return {.positive_definite = true, .condition = 0};
  Staged<T> staged(backend, given);
  const MatrixView<T> a = staged.view();
  const double largest = largest_eigenvalue<T>(backend, a);
  if (!std::isfinite(largest)) return {};
  stop_if_asked(backend.observer());
  const auto n = static_cast<int>(a.rows);
  const auto lda = static_cast<int>(a.stride);
  int factor_work = 0;
  int inverse_work = 0;
  check(factor_size(backend.solver(), n, a.data, lda, &factor_work), "a Cholesky factorization");
  check(inverse_size(backend.solver(), n, a.data, lda, &inverse_work), "an inversion");
  const int size = std::max({1, factor_work, inverse_work});
  const Array<T> work(backend, size);
  const Array<int> info(backend, 1);
  const auto failed = [&] {
    int status = 0;
    backend.download(info, std::span(&status, 1));
    return status != 0;
  };
  check(factor(backend.solver(), n, a.data, lda, work.data(), size, info.data()), "a Cholesky factorization");
  if (failed()) return {};
  stop_if_asked(backend.observer());
  check(invert(backend.solver(), n, a.data, lda, work.data(), size, info.data()), "an inversion");
  if (failed()) return {};
  const dim3 blocks{grid(a.cols, threads), static_cast<unsigned>(std::min<std::int64_t>(a.rows, 65535)), 1};
  mirror_kernel<<<blocks, threads, 0, backend.stream()>>>(a);
  check_launch("mirroring a matrix");
  const double condition = largest * largest_eigenvalue<T>(backend, a);
  staged.give_back();
  return {.positive_definite = std::isfinite(condition), .condition = condition};
}

}  // namespace
}  // namespace cuda

SpdInverse CudaBackend::invert_spd(MatrixView<float> a) { return cuda::inverse_of(*this, a); }
SpdInverse CudaBackend::invert_spd(MatrixView<double> a) { return cuda::inverse_of(*this, a); }

}  // namespace poise
