#include <algorithm>
#include <cmath>
#include <vector>

#include "poise/backend/cuda/cuda_backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/base/error.hpp"
#include "poise/linalg/symmetric_eigen.hpp"

namespace poise {
namespace cuda {
namespace {

/// Up to this size the host is faster.
constexpr std::int64_t host_size = 160;

/// cuSOLVER writes the vectors to rows, ascending; the result has them in columns, descending.
template <class T>
__global__ void columns_kernel(In<T> rows, Out<double> columns) {
  __shared__ double tile[32][33];
  const std::int64_t i = blockIdx.x * std::int64_t{32};  // of the vectors' entries
  for (std::int64_t k = blockIdx.y * std::int64_t{32}; k < columns.cols; k += gridDim.y * std::int64_t{32}) {
    for (int y = static_cast<int>(threadIdx.y); y < 32; y += 8) {
      const std::int64_t vector = k + y;
      const std::int64_t entry = i + threadIdx.x;
      if (vector < columns.cols && entry < columns.rows)
        tile[y][threadIdx.x] = static_cast<double>(rows.data[(rows.rows - 1 - vector) * rows.stride + entry]);
    }
    __syncthreads();
    for (int y = static_cast<int>(threadIdx.y); y < 32; y += 8) {
      const std::int64_t entry = i + y;
      const std::int64_t vector = k + threadIdx.x;
      if (vector < columns.cols && entry < columns.rows)
        columns.data[entry * columns.stride + vector] = tile[threadIdx.x][y];
    }
    __syncthreads();
  }
}

template <class T>
EigenPairs eigenpairs(CudaBackend& backend, Out<T> A, std::int64_t count) {
  const std::int64_t n = A.rows;
  constexpr cudaDataType type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;
  std::vector<double> squares(n);
  backend.row_dots(A, A, squares);
  if (!std::ranges::all_of(squares, [](double square) { return std::isfinite(square); }))
    fail(ErrorKind::numerical, "a {} x {} matrix to decompose has an entry that is not finite", n, n);
  const Array<T> values(backend, n);
  const Array<int> info(backend, 1);
  const SolverParameters parameters;
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  check(cusolverDnXsyevd_bufferSize(backend.solver(), parameters.value, CUSOLVER_EIG_MODE_VECTOR,
                                    CUBLAS_FILL_MODE_LOWER, n, type, A.data, A.stride, type, values.data(),
                                    type, &device_bytes, &host_bytes),
        "an eigendecomposition");
  const Array<char> work(backend, static_cast<std::int64_t>(device_bytes));
  std::vector<char> host_work(host_bytes);
  check(cusolverDnXsyevd(backend.solver(), parameters.value, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER,
                         n, type, A.data, A.stride, type, values.data(), type, work.data(), device_bytes,
                         host_work.data(), host_bytes, info.data()),
        "an eigendecomposition");
  int status = 0;
  backend.download(info, std::span(&status, 1));
  if (status != 0)
    fail(ErrorKind::numerical, "the eigendecomposition of a {} x {} matrix failed (cuSOLVER says {})", n, n,
         status);
  std::vector<T> ascending(n);
  backend.download(values, std::span(ascending));
  EigenPairs pairs{{ascending.rbegin(), ascending.rbegin() + count}, Matrix<double>::uninitialized(n, count)};
  if (count == 0) return pairs;
  const std::int64_t stride = (count + 15) / 16 * 16;
  const Array<double> memory(backend, n * stride);
  const Out<double> Q{memory.data(), n, count, stride};
  const dim3 blocks{grid(n, 32), static_cast<unsigned>(std::min<std::int64_t>((count + 31) / 32, 65535)), 1};
  columns_kernel<T><<<blocks, dim3{32, 8, 1}, 0, backend.stream()>>>(In<T>(A), Q);
  check_launch("an eigendecomposition");
  backend.download(Q, pairs.Q.view());
  return pairs;
}

}  // namespace
}  // namespace cuda

EigenPairs CudaBackend::symmetric_eigenpairs(Out<double> a, std::int64_t count) {
  if (a.rows > cuda::host_size) return cuda::eigenpairs(*this, a, count);
  Matrix<double> home(a.rows, a.cols);
  download(a, home.view());
  return top_eigenpairs(home.view(), count);
}
EigenPairs CudaBackend::symmetric_eigenpairs(Out<float> a, std::int64_t count) {
  if (a.rows > cuda::host_size) return cuda::eigenpairs(*this, a, count);
  Resident<double> wide(*this, a.rows, a.cols);
  copy(a, wide.view());
  return symmetric_eigenpairs(wide.view(), count);
}

}  // namespace poise
