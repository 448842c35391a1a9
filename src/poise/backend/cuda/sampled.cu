#include "poise/backend/cuda/row_pass.cuh"

namespace poise {
namespace cuda {
namespace {

constexpr int threads = 256;

/// out_e = t_u . v_i, a row a block. Lanes as in NarrowPass.
template <int G, int NV, int W>
__global__ void __launch_bounds__(32 * W)
    dots_kernel(Sparse x, const std::int32_t* rows, In<float> t, In<float> v, float* out) {
  using Pass = NarrowPass<G, NV, W>;
  constexpr int together = Pass::together;
  const std::int64_t row = rows[blockIdx.x];
  const std::int64_t begin = x.offsets[row];
  const std::int64_t count = x.offsets[row + 1] - begin;
  const int d = static_cast<int>(v.cols);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int place = lane % G;
  const int group = lane / G;
  float4 at[NV];
#pragma unroll
  for (int k = 0; k < NV; ++k) at[k] = Pass::load(t.data + row * t.stride, 4 * (k * G + place), d);
  for (std::int64_t first = static_cast<std::int64_t>(warp) * batch_entries; first < count;
       first += W * batch_entries) {
    const std::int64_t left = count - first;
    const int size = left < batch_entries ? static_cast<int>(left) : batch_entries;
    const std::int32_t my_index = lane < size ? x.indices[begin + first + lane] : 0;
    float result = 0;
    constexpr int ahead = NV <= 2 ? 4 : 2;
    for (int e = 0; e < size; e += ahead * together) {
      float4 z[ahead][NV];
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        const int mine = e + a * together + group;
        const std::int64_t index = __shfl_sync(full_warp, my_index, mine);
        const int columns = mine < size ? d : 0;
#pragma unroll
        for (int k = 0; k < NV; ++k)
          z[a][k] = Pass::load(v.data + index * v.stride, 4 * (k * G + place), columns);
      }
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        float dot = 0;
#pragma unroll
        for (int k = 0; k < NV; ++k)
          dot += z[a][k].x * at[k].x + z[a][k].y * at[k].y + z[a][k].z * at[k].z + z[a][k].w * at[k].w;
#pragma unroll
        for (int offset = G / 2; offset > 0; offset /= 2) dot += __shfl_xor_sync(full_warp, dot, offset);
        // Each group has the dot of its entry: the lane that keeps it takes it from there.
        const int mine = lane - (e + a * together);
        const float taken = __shfl_sync(full_warp, dot, (mine >= 0 && mine < together ? mine : 0) * G);
        if (mine >= 0 && mine < together) result = taken;
      }
    }
    if (lane < size) out[begin + first + lane] = result;
  }
}

/// The same for any width: a warp a row.
__global__ void wide_dots_kernel(Sparse x, In<float> t, In<float> v, float* out) {
  const std::int64_t row = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / 32;
  if (row >= x.rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const float* const own = t.data + row * t.stride;
  for (std::int64_t e = x.offsets[row]; e < x.offsets[row + 1]; ++e) {
    const float* const other = v.data + x.indices[e] * v.stride;
    float sum = 0;
    for (std::int64_t k = lane; k < v.cols; k += 32) sum += own[k] * other[k];
    sum = warp_total(sum);
    if (lane == 0) out[e] = sum;
  }
}

/// S_u += sum_e (w_e - c_e t_u . v_i) v_i, a row a block.
template <class Pass>
__global__ void __launch_bounds__(32 * Pass::warps)
    product_kernel(Sparse x, const std::int32_t* rows, const float* w, const float* c, In<float> t,
                   In<float> v, Out<float> s) {
  extern __shared__ double shared[];
  constexpr int block = 32 * Pass::warps;
  const std::int64_t row = rows[blockIdx.x];
  const int d = static_cast<int>(v.cols);
  float* const at = reinterpret_cast<float*>(shared + Pass::bytes(d) / 8);
  const int padded = static_cast<int>(Pass::padded(d));
  for (int k = static_cast<int>(threadIdx.x); k < padded; k += block)
    at[k] = k < d ? t.data[row * t.stride + k] : 0.0F;
  block_sync<Pass::warps>();
  Pass::template run<false>(row_entries(x, c, w, row), v, at, shared);
  for (int k = static_cast<int>(threadIdx.x); k < d; k += block) {
    float& to = s.data[row * s.stride + k];
    to = static_cast<float>(static_cast<double>(to) + shared[k]);
  }
}

struct Product {
  Sparse x;
  const float* w;
  const float* c;
  In<float> t;
  In<float> v;
  Out<float> s;
};

/// With fewer warps if a block has too little shared memory for W.
template <int W>
void launch_product(const Product& product, const std::int32_t* rows, std::int64_t count, cudaStream_t stream,
                    std::int64_t shared_bytes) {
  const std::int64_t d = product.v.cols;
  bool started = false;
  const auto start = [&](auto pass) {
    using Pass = decltype(pass);
    const std::int64_t bytes = Pass::bytes(d) + 4 * Pass::padded(d);
    if (bytes > shared_bytes && Pass::warps == W) return;
    launch("sampled products", product_kernel<Pass>, count, 32 * Pass::warps, bytes, stream, product.x, rows,
           product.w, product.c, product.t, product.v, product.s);
    started = true;
  };
  with_narrow_pass<W>(d, start);
  if (started) return;
  if constexpr (W > middle_class_warps) {
    launch_product<middle_class_warps>(product, rows, count, stream, shared_bytes);
  } else {
    start(WidePass<8>());
  }
}

template <int G, int NV, int W>
void launch_dots(const Product& product, const std::int32_t* rows, std::int64_t count, cudaStream_t stream,
                 float* out) {
  dots_kernel<G, NV, W>
      <<<static_cast<unsigned>(count), 32 * W, 0, stream>>>(product.x, rows, product.t, product.v, out);
  check_launch("sampled products");
}

template <int W>
void launch_dots(const Product& product, const std::int32_t* rows, std::int64_t count, cudaStream_t stream,
                 float* out) {
  const std::int64_t d = product.v.cols;
  if (d <= 64) return launch_dots<16, 1, W>(product, rows, count, stream, out);
  if (d <= 128) return launch_dots<32, 1, W>(product, rows, count, stream, out);
  if (d <= 256) return launch_dots<32, 2, W>(product, rows, count, stream, out);
  if (d <= 512) return launch_dots<32, 4, W>(product, rows, count, stream, out);
  launch_dots<32, 8, W>(product, rows, count, stream, out);
}

}  // namespace
}  // namespace cuda

void CudaBackend::sampled_dots(CsrView x, In<float> t, In<float> v, std::span<float> out) {
  if (x.entries() == 0) return;
  x.values = {};
  const auto copy = sparse(x);
  const cuda::AlignedFactors T(*this, t);
  const cuda::AlignedFactors V(*this, v);
  cuda::StagedSpan<float> dots(*this, out, false);
  if (v.cols > 1024) {
    cuda::wide_dots_kernel<<<cuda::grid(x.rows * 32, cuda::threads), cuda::threads, 0, stream()>>>(
        copy->view, T.view(), V.view(), dots.data());
    cuda::check_launch("sampled products");
  } else {
    const cuda::Product product{copy->view, nullptr, nullptr, T.view(), V.view(), {}};
    cuda::for_each_class(*this, cuda::row_classes(*this, *copy),
                         [&](auto warps, const std::int32_t* rows, std::int64_t count, cudaStream_t stream) {
                           cuda::launch_dots<warps()>(product, rows, count, stream, dots.data());
                         });
  }
  dots.give_back();
}

void CudaBackend::sampled_product(CsrView x, std::span<const float> w, std::span<const float> c, In<float> t,
                                  In<float> v, Out<float> s) {
  if (x.entries() == 0 || v.cols == 0) return;
  x.values = {};
  const auto copy = sparse(x);
  const cuda::AlignedFactors V(*this, v);
  const cuda::StagedSpan<const float> W(*this, w);
  const cuda::StagedSpan<const float> C(*this, c);
  const cuda::Product product{copy->view, W.data(), C.data(), t, V.view(), s};
  cuda::for_each_class(*this, cuda::row_classes(*this, *copy),
                       [&](auto warps, const std::int32_t* rows, std::int64_t count, cudaStream_t stream) {
                         cuda::launch_product<warps()>(product, rows, count, stream, shared_bytes());
                       });
}

}  // namespace poise
