#include <cmath>
#include <vector>

#include "poise/backend/cuda/cuda_backend.hpp"
#include "poise/backend/power_start.hpp"

namespace poise {
namespace cuda {
namespace {

constexpr int threads = 256;

/// y = A x / norm, a block a row, in float64.
template <class T>
__global__ void apply_kernel(In<T> a, const double* x, double norm, double* y) {
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

/// Column-major lower is row-major upper: copies that triangle to the other one.
template <class T>
__global__ void mirror_kernel(Out<T> a) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= a.cols) return;
  for (std::int64_t i = blockIdx.y; i < a.rows; i += gridDim.y) {
    if (j > i) a.data[j * a.stride + i] = a.data[i * a.stride + j];
  }
}

/// As on the CPU: from below, by power iteration from a fixed vector; not finite where an entry is not.
template <class T>
double largest_eigenvalue(CudaBackend& backend, In<T> a) {
  constexpr int steps = 12;
  const std::vector<double> start = power_start(a.rows);
  Array<double> x = backend.upload(std::span<const double>(start));
  Array<double> y(backend, a.rows);
  double norm = 1;
  double value = 0;
  for (int step = 0; step < steps && norm > 0; ++step) {
    apply_kernel<<<static_cast<unsigned>(a.rows), threads, 0, backend.stream()>>>(a, x.data(), norm,
                                                                                  y.data());
    check_launch("a power iteration");
    std::swap(x, y);
    const In<double> row{x.data(), 1, a.rows, a.rows};
    double squares = 0;
    backend.row_dots(row, row, std::span(&squares, 1));
    norm = std::sqrt(squares);
    value = norm;
  }
  return value;
}

cusolverStatus_t inverse_size(cusolverDnHandle_t solver, int n, float* a, int lda, int* size) {
  return cusolverDnSpotri_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, n, a, lda, size);
}
cusolverStatus_t inverse_size(cusolverDnHandle_t solver, int n, double* a, int lda, int* size) {
  return cusolverDnDpotri_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, n, a, lda, size);
}
cusolverStatus_t invert(cusolverDnHandle_t solver, int n, float* a, int lda, float* work, int size,
                        int* info) {
  return cusolverDnSpotri(solver, CUBLAS_FILL_MODE_LOWER, n, a, lda, work, size, info);
}
cusolverStatus_t invert(cusolverDnHandle_t solver, int n, double* a, int lda, double* work, int size,
                        int* info) {
  return cusolverDnDpotri(solver, CUBLAS_FILL_MODE_LOWER, n, a, lda, work, size, info);
}

cublasStatus_t solve_triangle(cublasHandle_t blas, cublasSideMode_t side, cublasOperation_t op, int rows,
                              int cols, const float* alpha, const float* l, int ldl, float* b, int ldb) {
  return cublasStrsm(blas, side, CUBLAS_FILL_MODE_LOWER, op, CUBLAS_DIAG_NON_UNIT, rows, cols, alpha, l, ldl,
                     b, ldb);
}
cublasStatus_t solve_triangle(cublasHandle_t blas, cublasSideMode_t side, cublasOperation_t op, int rows,
                              int cols, const double* alpha, const double* l, int ldl, double* b, int ldb) {
  return cublasDtrsm(blas, side, CUBLAS_FILL_MODE_LOWER, op, CUBLAS_DIAG_NON_UNIT, rows, cols, alpha, l, ldl,
                     b, ldb);
}
cublasStatus_t add_square(cublasHandle_t blas, int n, int inner, const float* alpha, const float* b, int ldb,
                          const float* beta, float* c, int ldc) {
  return cublasSsyrk(blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, n, inner, alpha, b, ldb, beta, c, ldc);
}
cublasStatus_t add_square(cublasHandle_t blas, int n, int inner, const double* alpha, const double* b,
                          int ldb, const double* beta, double* c, int ldc) {
  return cublasDsyrk(blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, n, inner, alpha, b, ldb, beta, c, ldc);
}
/// (L L')^-1 in the place of the lower L (all column-major), by halves, so that nearly all of it are large
/// triangular solves and products: with
///
///     L = | L_1      |       E = L_21 L_1^-1,   F = L_2^-1 E,
///         | L_21 L_2 |
///
///     (L L')^-1 = | (L_1 L_1')^-1 + F'F         .        |
///                 |     -L_2^-T F         (L_2 L_2')^-1  |.
///
/// The smallest parts are cuSOLVER's, whose inversion of large ones is slow.
template <class T>
class FactorInverse {
 public:
  explicit FactorInverse(CudaBackend& backend) : backend_(backend), info_(backend, 1) {}

  void run(T* l, std::int64_t n, std::int64_t lda) {
    stop_if_asked(backend_.observer());
    const auto size = static_cast<int>(n);
    const auto stride = static_cast<int>(lda);
    if (n <= base) {
      int work = 0;
      check(inverse_size(backend_.solver(), size, l, stride, &work), "an inversion");
      if (work_.size() < work) work_ = Array<T>(backend_, work);
      check(invert(backend_.solver(), size, l, stride, work_.data(), work, info_.data()), "an inversion");
      return;
    }
    const std::int64_t first = n / 2;
    const std::int64_t rest = n - first;
    const T one = 1;
    const T minus = -1;
    T* const l21 = l + first;
    T* const l2 = l21 + first * lda;
    // E in the place of L_21, which F and then -L_2^-T F take.
    check(solve_triangle(backend_.blas(), CUBLAS_SIDE_RIGHT, CUBLAS_OP_N, static_cast<int>(rest),
                         static_cast<int>(first), &one, l, stride, l21, stride),
          "an inversion");
    run(l, first, lda);
    check(solve_triangle(backend_.blas(), CUBLAS_SIDE_LEFT, CUBLAS_OP_N, static_cast<int>(rest),
                         static_cast<int>(first), &one, l2, stride, l21, stride),
          "an inversion");
    check(add_square(backend_.blas(), static_cast<int>(first), static_cast<int>(rest), &one, l21, stride,
                     &one, l, stride),
          "an inversion");
    check(solve_triangle(backend_.blas(), CUBLAS_SIDE_LEFT, CUBLAS_OP_T, static_cast<int>(rest),
                         static_cast<int>(first), &minus, l2, stride, l21, stride),
          "an inversion");
    run(l2, rest, lda);
  }

 private:
  static constexpr std::int64_t base = 2048;
  CudaBackend& backend_;
  Array<int> info_;
  Array<T> work_;
};

/// The lower (column-major) Cholesky factor in its place; false where A is not positive definite.
template <class T>
bool factored(CudaBackend& backend, Out<T> a) {
  constexpr cudaDataType type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;
  const SolverParameters parameters;
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  check(cusolverDnXpotrf_bufferSize(backend.solver(), parameters.value, CUBLAS_FILL_MODE_LOWER, a.rows, type,
                                    a.data, a.stride, type, &device_bytes, &host_bytes),
        "a Cholesky factorization");
  const Array<char> work(backend, static_cast<std::int64_t>(device_bytes));
  std::vector<char> host_work(host_bytes);
  const Array<int> info(backend, 1);
  check(
      cusolverDnXpotrf(backend.solver(), parameters.value, CUBLAS_FILL_MODE_LOWER, a.rows, type, a.data,
                       a.stride, type, work.data(), device_bytes, host_work.data(), host_bytes, info.data()),
      "a Cholesky factorization");
  int status = 0;
  backend.download(info, std::span(&status, 1));
  return status == 0;
}

template <class T>
SpdInverse inverse_of(CudaBackend& backend, Out<T> a) {
  if (a.rows == 0) return {.positive_definite = true, .condition = 0};
  const double largest = largest_eigenvalue<T>(backend, a);
  if (!std::isfinite(largest)) return {};
  stop_if_asked(backend.observer());
  if (!factored(backend, a)) return {};
  FactorInverse<T>(backend).run(a.data, a.rows, a.stride);
  const dim3 blocks{grid(a.cols, threads), static_cast<unsigned>(std::min<std::int64_t>(a.rows, 65535)), 1};
  mirror_kernel<<<blocks, threads, 0, backend.stream()>>>(a);
  check_launch("mirroring a matrix");
  const double condition = largest * largest_eigenvalue<T>(backend, a);
  return {.positive_definite = std::isfinite(condition), .condition = condition};
}

}  // namespace
}  // namespace cuda

SpdInverse CudaBackend::invert_spd(Out<float> a) { return cuda::inverse_of(*this, a); }
SpdInverse CudaBackend::invert_spd(Out<double> a) { return cuda::inverse_of(*this, a); }

}  // namespace poise
