#include "poise/backend/cuda/cuda_backend.hpp"

namespace poise {
namespace cuda {
namespace {

constexpr int threads = 256;

__device__ float warp_dot(const float* a, const float* b, std::int64_t size, int lane) {
  float sum = 0;
  for (std::int64_t j = lane; j < size; j += 32) sum += a[j] * b[j];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, offset);
  return sum;
}

/// A warp a row.
__global__ void dots_kernel(Sparse x, MatrixView<const float> t, MatrixView<const float> v, float* out) {
  const std::int64_t row = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / 32;
  if (row >= x.rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (std::int64_t e = x.offsets[row]; e < x.offsets[row + 1]; ++e) {
    const float dot = warp_dot(t.data + row * t.stride, v.data + x.indices[e] * v.stride, v.cols, lane);
    if (lane == 0) out[e] = dot;
  }
}

__global__ void product_kernel(Sparse x, const float* w, const float* c, MatrixView<const float> t,
                               MatrixView<const float> v, MatrixView<float> s, double* sums) {
  const std::int64_t row = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / 32;
  if (row >= x.rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  double* const sum = sums + row * v.cols;
  for (std::int64_t j = lane; j < v.cols; j += 32) sum[j] = 0;
  for (std::int64_t e = x.offsets[row]; e < x.offsets[row + 1]; ++e) {
    const float* const v_row = v.data + x.indices[e] * v.stride;
    float factor = w == nullptr ? 0 : w[e];
    if (c != nullptr) factor -= c[e] * warp_dot(t.data + row * t.stride, v_row, v.cols, lane);
    for (std::int64_t j = lane; j < v.cols; j += 32) sum[j] += static_cast<double>(factor * v_row[j]);
  }
  for (std::int64_t j = lane; j < v.cols; j += 32) {
    float& to = s.data[row * s.stride + j];
    to = static_cast<float>(static_cast<double>(to) + sum[j]);
  }
}

}  // namespace
}  // namespace cuda

void CudaBackend::sampled_dots(CsrView x, MatrixView<const float> t, MatrixView<const float> v,
                               std::span<float> out) {
  if (x.entries() == 0) return;
  x.values = {};
  const auto copy = sparse(x);
  const cuda::Staged<const float> T(*this, t);
  const cuda::Staged<const float> V(*this, v);
  cuda::StagedSpan<float> dots(*this, out, false);
  cuda::dots_kernel<<<cuda::grid(x.rows * 32, cuda::threads), cuda::threads, 0, stream_>>>(
      copy->view, T.view(), V.view(), dots.data());
  cuda::check_launch("sampled products");
  dots.give_back();
}

void CudaBackend::sampled_product(CsrView x, std::span<const float> w, std::span<const float> c,
                                  MatrixView<const float> t, MatrixView<const float> v, MatrixView<float> s) {
  if (x.entries() == 0 || v.cols == 0) return;
  x.values = {};
  const auto copy = sparse(x);
  const cuda::Staged<const float> T(*this, t);
  const cuda::Staged<const float> V(*this, v);
  const cuda::StagedSpan<const float> W(*this, w);
  const cuda::StagedSpan<const float> C(*this, c);
  cuda::Staged<float> S(*this, s);
  const cuda::Array<double> sums(*this, x.rows * v.cols);
  cuda::product_kernel<<<cuda::grid(x.rows * 32, cuda::threads), cuda::threads, 0, stream_>>>(
      copy->view, W.data(), C.data(), T.view(), V.view(), S.view(), sums.data());
  cuda::check_launch("sampled products");
  S.give_back();
}

}  // namespace poise
