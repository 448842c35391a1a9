#include <algorithm>
#include <vector>

#include "poise/backend/cuda/row_pass.cuh"
#include "poise/backend/resident.hpp"

namespace poise {
namespace cuda {
namespace {

constexpr int threads = 256;
/// Entries that one block of triple_dot adds up, and numbers of a widened block of factors.
constexpr std::int64_t dot_chunk = 1 << 16;
constexpr std::int64_t block_numbers = std::int64_t{1} << 26;

/// A fixed number of entries a block, in a fixed order.
__global__ void triple_dot_kernel(const float* c, const float* x, const float* y, std::int64_t size,
                                  double* partial) {
  __shared__ double scratch[threads / 32];
  const std::int64_t first = blockIdx.x * dot_chunk;
  const std::int64_t last = first + dot_chunk < size ? first + dot_chunk : size;
  double sum = 0;
  for (std::int64_t e = first + threadIdx.x; e < last; e += threads) {
    double term = c == nullptr ? 1.0 : static_cast<double>(c[e]);
    if (x != nullptr) term *= static_cast<double>(x[e]);
    if (y != nullptr) term *= static_cast<double>(y[e]);
    sum += term;
  }
  const double total = block_total<threads / 32>(sum, scratch);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

/// Rows in float64, each times its weight.
__global__ void widen_kernel(In<float> from, const float* weights, Out<double> to) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= to.cols) return;
  for (std::int64_t k = blockIdx.y; k < to.rows; k += gridDim.y) {
    const double weight = weights == nullptr ? 1.0 : static_cast<double>(weights[k]);
    to.data[k * to.stride + j] = weight * static_cast<double>(from.data[k * from.stride + j]);
  }
}

dim3 blocks_over(std::int64_t rows, std::int64_t cols) {
  return {grid(cols, threads), static_cast<unsigned>(std::clamp<std::int64_t>(rows, 1, 65535)), 1};
}

void widen(CudaBackend& backend, In<float> from, const float* weights, Out<double> to) {
  widen_kernel<<<blocks_over(to.rows, to.cols), threads, 0, backend.stream()>>>(from, weights, to);
  check_launch("widening factors");
}

__global__ void divide_kernel(Out<float> x, const double* s, const double* t, double shift) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= x.cols) return;
  for (std::int64_t i = blockIdx.y; i < x.rows; i += gridDim.y) {
    const double divisor = s[i] * t[j] + shift;
    float& value = x.data[i * x.stride + j];
    value = divisor > 0 ? static_cast<float>(static_cast<double>(value) / divisor) : 0.0F;
  }
}

std::int64_t rows_per_block(std::int64_t rows, std::int64_t stride) {
  return std::clamp<std::int64_t>(block_numbers / std::max<std::int64_t>(1, stride), 1,
                                  std::max<std::int64_t>(1, rows));
}

/// Y' diag(a) Z, block of rows after block of rows; Z may be Y.
Matrix<double> wide_product(CudaBackend& backend, In<float> y, std::span<const float> a, In<float> z,
                            bool same) {
  Matrix<double> result(y.cols, z.cols);
  if (y.rows == 0 || y.cols == 0 || z.cols == 0) return result;
  const StagedSpan<const float> weights(backend, a);
  const std::int64_t stride = (std::max(y.cols, z.cols) + 15) / 16 * 16;
  const std::int64_t step = rows_per_block(y.rows, stride);
  const bool one = same && weights.data() == nullptr;
  const Array<double> left_memory(backend, step * stride);
  const Array<double> right_memory(backend, one ? 0 : step * stride);
  const std::int64_t sum_stride = (z.cols + 15) / 16 * 16;
  const Array<double> sum_memory(backend, y.cols * sum_stride);
  const Out<double> sum{sum_memory.data(), y.cols, z.cols, sum_stride};
  for (std::int64_t first = 0; first < y.rows; first += step) {
    const std::int64_t count = std::min(step, y.rows - first);
    const Out<double> wide_left{left_memory.data(), count, y.cols, stride};
    Out<double> wide_right = wide_left;
    widen(backend, y.block(first, count), weights.data() == nullptr ? nullptr : weights.data() + first,
          wide_left);
    if (!one) {
      wide_right = {right_memory.data(), count, z.cols, stride};
      widen(backend, z.block(first, count), nullptr, wide_right);
    }
    backend.gemm(Op::transpose, Op::none, 1.0, wide_left, wide_right, first == 0 ? 0.0 : 1.0, sum);
  }
  backend.download(sum, result.view());
  return result;
}

Matrix<float> rounded(const Matrix<double>& a) {
  Matrix<float> result(a.rows(), a.cols());
  for (std::int64_t r = 0; r < a.rows(); ++r) {
    for (std::int64_t c = 0; c < a.cols(); ++c) result(r, c) = static_cast<float>(a(r, c));
  }
  return result;
}

}  // namespace
}  // namespace cuda

double CudaBackend::triple_dot(std::span<const float> c, std::span<const float> x, std::span<const float> y) {
  const auto size = static_cast<std::int64_t>(std::max({c.size(), x.size(), y.size()}));
  if (size == 0) return 0;
  const cuda::StagedSpan<const float> C(*this, c);
  const cuda::StagedSpan<const float> X(*this, x);
  const cuda::StagedSpan<const float> Y(*this, y);
  const std::int64_t blocks = (size + cuda::dot_chunk - 1) / cuda::dot_chunk;
  const cuda::Array<double> partial(*this, blocks);
  cuda::triple_dot_kernel<<<static_cast<unsigned>(blocks), cuda::threads, 0, stream()>>>(
      C.data(), X.data(), Y.data(), size, partial.data());
  cuda::check_launch("a sum over entries");
  std::vector<double> parts(blocks);
  download(partial, std::span(parts));
  double total = 0;
  for (const double part : parts) total += part;
  return total;
}

Matrix<double> CudaBackend::factor_gram(In<float> z, std::span<const float> a) {
  Matrix<double> gram = cuda::wide_product(*this, z, a, z, true);
  for (std::int64_t j = 0; j < gram.rows(); ++j) {
    for (std::int64_t k = 0; k < j; ++k) gram(j, k) = gram(k, j);
  }
  return gram;
}

Matrix<double> CudaBackend::factor_product(In<float> y, std::span<const float> a, In<float> z) {
  return cuda::wide_product(*this, y, a, z, false);
}

void CudaBackend::combine_rows(In<float> z, const Matrix<double>& a, Out<float> y, const Matrix<double>& b) {
  if (y.rows == 0 || y.cols == 0) return;
  const Resident<float> A(*this, cuda::rounded(a));
  const Resident<float> B(*this, cuda::rounded(b));
  const std::int64_t stride = (y.cols + 31) / 32 * 32;
  const std::int64_t step = cuda::rows_per_block(y.rows, stride);
  const cuda::Array<float> memory(*this, b.rows() > 0 ? step * stride : 0);
  for (std::int64_t first = 0; first < y.rows; first += step) {
    const std::int64_t count = std::min(step, y.rows - first);
    const Out<float> out = y.block(first, count);
    if (b.rows() > 0) {
      const Out<float> before{memory.data(), count, y.cols, stride};
      copy(out, before);
      gemm(Op::none, Op::none, 1.0F, before, B.view(), 0.0F, out);
    }
    if (a.rows() > 0)
      gemm(Op::none, Op::none, 1.0F, z.block(first, count), A.view(), b.rows() > 0 ? 1.0F : 0.0F, out);
  }
}

void CudaBackend::divide_by_products(Out<float> x, Numbers s, Numbers t, double shift) {
  if (x.rows == 0 || x.cols == 0) return;
  const cuda::StagedSpan<const double> S(*this, s);
  const cuda::StagedSpan<const double> T(*this, t);
  cuda::divide_kernel<<<cuda::blocks_over(x.rows, x.cols), cuda::threads, 0, stream()>>>(x, S.data(),
                                                                                         T.data(), shift);
  cuda::check_launch("dividing by products");
}

}  // namespace poise
