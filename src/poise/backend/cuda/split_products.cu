#include <algorithm>

#include <cuda_fp16.h>

#include "poise/backend/cuda/cuda_backend.hpp"

// Products of float32 matrices on tensor cores. Every entry is a sum high + low / 2^11 of two numbers of half
// precision, 11 bits each, and R A = high high + (high low + low high) / 2^11, added up in float32: two bits
// less than float32 has, and what tensor cores drop, which truncate where float32 would round. Rows of R and
// columns of A are scaled by powers of two, so that what half precision cannot hold is below 2^-49 of the
// largest entry.

namespace poise {
namespace cuda {
namespace {

constexpr int threads = 256;
constexpr float low_unit = 1 << 11;

/// The sizes for which tensor cores are faster in spite of the splitting.
constexpr std::int64_t split_rows = 64;
constexpr std::int64_t split_size = 1024;
/// Tensor cores are fastest where all sizes are multiples of this.
constexpr std::int64_t tile = 128;
std::int64_t filled_up(std::int64_t size) { return (size + tile - 1) / tile * tile; }

/// Of every row the power of two that brings its largest entry to [2^14, 2^15).
__global__ void scale_kernel(In<float> x, float* scales) {
  const float* const row = x.data + blockIdx.x * x.stride;
  float largest = 0;
  for (std::int64_t j = threadIdx.x; j < x.cols; j += threads) largest = fmaxf(largest, fabsf(row[j]));
  for (int offset = 16; offset > 0; offset /= 2)
    largest = fmaxf(largest, __shfl_down_sync(0xffffffffU, largest, offset));
  __shared__ float parts[threads / 32];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const float part : parts) largest = fmaxf(largest, part);
  int exponent = 15;
  if (largest > 0 && isfinite(largest)) frexpf(largest, &exponent);
  scales[blockIdx.x] = ldexpf(1, min(15 - exponent, 126));
}

/// Both parts are filled up with zeros to the size of `high`.
__global__ void split_kernel(In<float> x, const float* scales, bool by_row, Out<__half> high,
                             Out<__half> low) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= high.cols) return;
  for (std::int64_t k = blockIdx.y; k < high.rows; k += gridDim.y) {
    const bool inside = j < x.cols && k < x.rows;
    const float value = inside ? x.data[k * x.stride + j] * scales[by_row ? k : j] : 0.0F;
    const __half first = __float2half_rn(value);
    high.data[k * high.stride + j] = first;
    low.data[k * low.stride + j] = __float2half_rn((value - __half2float(first)) * low_unit);
  }
}

__global__ void unscale_kernel(In<float> product, const float* row_scales, const float* col_scales,
                               Out<float> y) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= y.cols) return;
  for (std::int64_t k = blockIdx.y; k < y.rows; k += gridDim.y)
    y.data[k * y.stride + j] = product.data[k * product.stride + j] / row_scales[k] / col_scales[j];
}

dim3 blocks_of(std::int64_t rows, std::int64_t cols) {
  return {grid(cols, threads), static_cast<unsigned>(std::clamp<std::int64_t>(rows, 1, 65535)), 1};
}

struct Split {
  Array<float> scales;
  Array<__half> memory[2];
  Out<__half> high;
  Out<__half> low;

  /// Columns of a symmetric matrix have the scales of its rows.
  Split(CudaBackend& backend, In<float> x, bool by_row) : scales(backend, x.rows) {
    const std::int64_t rows = filled_up(x.rows);
    const std::int64_t cols = filled_up(x.cols);
    for (Array<__half>& part : memory) part = Array<__half>(backend, rows * cols);
    high = {memory[0].data(), rows, cols, cols};
    low = {memory[1].data(), rows, cols, cols};
    scale_kernel<<<static_cast<unsigned>(x.rows), threads, 0, backend.stream()>>>(x, scales.data());
    split_kernel<<<blocks_of(rows, cols), threads, 0, backend.stream()>>>(x, scales.data(), by_row, high,
                                                                          low);
    check_launch("splitting a matrix");
  }
};

}  // namespace
}  // namespace cuda

bool CudaBackend::splits_products(std::int64_t size) const { return size >= cuda::split_size; }

void CudaBackend::multiply_symmetric(In<float> r, In<float> a, Out<float> y) {
  if (r.rows < cuda::split_rows || a.rows < cuda::split_size) {
    gemm(Op::none, Op::none, 1.0F, r, a, 0.0F, y);
    return;
  }
  const cuda::Split R(*this, r, true);
  const cuda::Split A(*this, a, false);
  const auto rows = static_cast<int>(R.high.rows);
  const auto size = static_cast<int>(A.high.cols);
  const cuda::Array<float> product(*this, R.high.rows * A.high.cols);
  // Row-major, so that the factors change places.
  const auto add = [&](Out<__half> first, Out<__half> second, float beta) {
    const float one = 1;
    cuda::check(cublasGemmEx(blas(), CUBLAS_OP_N, CUBLAS_OP_N, size, rows, size, &one, second.data,
                             CUDA_R_16F, size, first.data, CUDA_R_16F, size, &beta, product.data(),
                             CUDA_R_32F, size, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                "a matrix product");
  };
  add(R.low, A.high, 0);
  add(R.high, A.low, 1);
  add(R.high, A.high, 1 / cuda::low_unit);
  cuda::unscale_kernel<<<cuda::blocks_of(y.rows, y.cols), cuda::threads, 0, stream()>>>(
      {product.data(), y.rows, y.cols, size}, R.scales.data(), A.scales.data(), y);
  cuda::check_launch("a matrix product");
}

}  // namespace poise
