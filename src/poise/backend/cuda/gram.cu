#include <algorithm>
#include <cmath>

#include "poise/backend/cuda/cuda_backend.hpp"

namespace poise {
namespace cuda {
namespace {

constexpr int threads = 256;

/// Adds a row's weight to the lower triangle at all pairs of its entries: a block takes a piece of the row
/// against all entries before it. Sums of whole numbers do not depend on the order. A pair is one 4-byte
/// or 8-byte atomic addition in the L2 cache.
template <class Count>
__global__ void pairs_kernel(Sparse x, const long long* weights, Count* counts, std::int64_t stride) {
  const std::int64_t piece = blockIdx.x;
  const std::int64_t row = x.piece_rows == nullptr ? piece : x.piece_rows[piece];
  const std::int64_t start = x.offsets[row];
  const std::int64_t begin = x.piece_rows == nullptr ? start : x.piece_begins[piece];
  std::int64_t end = x.offsets[row + 1];
  if (x.piece_rows != nullptr && end > begin + piece_entries) end = begin + piece_entries;
  const Count weight = weights == nullptr ? Count{1} : static_cast<Count>(weights[row]);
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (std::int64_t e = begin + threadIdx.x / 32; e < end; e += threads / 32) {
    Count* const to = counts + x.indices[e] * stride;
    for (std::int64_t f = start + lane; f <= e; f += 32) atomicAdd(to + x.indices[f], weight);
  }
}

/// Both triangles as numbers; `counts` may be the matrix itself.
template <class Count, class T>
__global__ void finish_kernel(const Count* counts, std::int64_t stride, double unit, Out<T> g) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  for (std::int64_t i = blockIdx.y; i < g.rows; i += gridDim.y) {
    if (j > i) continue;
    const auto count = static_cast<std::make_signed_t<Count>>(counts[i * stride + j]);
    const T value = static_cast<T>(unit * static_cast<double>(count));
    g.data[i * g.stride + j] = value;
    g.data[j * g.stride + i] = value;
  }
}

template <class Count, class T>
void count_pairs(CudaBackend& backend, const Sparse& x, const long long* weights, double unit, Count* counts,
                 std::int64_t stride, Out<T> g) {
  check(cudaMemsetAsync(counts, 0, sizeof(Count) * stride * g.rows, backend.stream()), "clearing memory");
  const std::int64_t pieces = x.piece_rows == nullptr ? x.rows : x.pieces;
  if (pieces > 0) {
    pairs_kernel<<<grid(pieces, 1), threads, 0, backend.stream()>>>(x, weights, counts, stride);
    check_launch("a Gram matrix");
  }
  const dim3 blocks{grid(g.cols, threads), static_cast<unsigned>(std::min<std::int64_t>(g.rows, 65535)), 1};
  finish_kernel<<<blocks, threads, 0, backend.stream()>>>(counts, stride, unit, g);
  check_launch("a Gram matrix");
}

/// The row weights as whole multiples of a power of two, fine enough that their sum just fits 62 bits: their
/// sums are then exact to some 2^-43 of the largest possible one, which is float64's precision or better.
struct Fixed {
  std::vector<long long> weights;
  double unit = 1;

  explicit Fixed(std::span<const float> a) {
    double sum = 0;
    for (const float weight : a) sum += std::abs(static_cast<double>(weight));
    int exponent = 0;
    std::frexp(sum, &exponent);
    const double scale = std::ldexp(1.0, 62 - exponent);
    unit = 1 / scale;
    for (const float weight : a) weights.push_back(std::llrint(static_cast<double>(weight) * scale));
  }
};

template <class T>
void gram_of(CudaBackend& backend, CsrView x, std::span<const float> row_weights, Out<T> g) {
  if (g.rows == 0) return;
  x.values = {};
  const auto copy = backend.sparse(x);
  if (row_weights.empty()) {
    if constexpr (sizeof(T) == sizeof(unsigned)) {
      // Counted in place: a count takes as many bytes as the number it becomes.
      count_pairs(backend, copy->view, nullptr, 1.0, reinterpret_cast<unsigned*>(g.data), g.stride, g);
    } else {
      const Array<unsigned> counts(backend, g.rows * g.cols);
      count_pairs(backend, copy->view, nullptr, 1.0, counts.data(), g.cols, g);
    }
  } else {
    const Fixed fixed(row_weights);
    const Array<long long> weights = backend.upload(std::span<const long long>(fixed.weights));
    const Array<unsigned long long> counts(backend, g.rows * g.cols);
    count_pairs(backend, copy->view, weights.data(), fixed.unit, counts.data(), g.cols, g);
  }
}

}  // namespace
}  // namespace cuda

void CudaBackend::gram(CsrView x, std::span<const float> row_weights, Out<float> g) {
  cuda::gram_of(*this, x, row_weights, g);
}
void CudaBackend::gram(CsrView x, std::span<const float> row_weights, Out<double> g) {
  cuda::gram_of(*this, x, row_weights, g);
}

}  // namespace poise
