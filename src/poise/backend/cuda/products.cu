#include <algorithm>

#include "poise/backend/cuda/cuda_backend.hpp"

namespace poise {
namespace cuda {
namespace {

constexpr int threads = 256;

cublasOperation_t operation(Op op) { return op == Op::none ? CUBLAS_OP_N : CUBLAS_OP_T; }

cublasStatus_t call_gemm(cublasHandle_t blas, cublasOperation_t op_b, cublasOperation_t op_a, int cols,
                         int rows, int inner, const float* alpha, const float* b, int ldb, const float* a,
                         int lda, const float* beta, float* c, int ldc) {
  return cublasSgemm(blas, op_b, op_a, cols, rows, inner, alpha, b, ldb, a, lda, beta, c, ldc);
}
cublasStatus_t call_gemm(cublasHandle_t blas, cublasOperation_t op_b, cublasOperation_t op_a, int cols,
                         int rows, int inner, const double* alpha, const double* b, int ldb, const double* a,
                         int lda, const double* beta, double* c, int ldc) {
  return cublasDgemm(blas, op_b, op_a, cols, rows, inner, alpha, b, ldb, a, lda, beta, c, ldc);
}

template <class T>
int leading(DeviceView<T> x) {
  return static_cast<int>(std::max<std::int64_t>({1, x.stride, x.cols}));
}

template <class T>
void multiply(CudaBackend& backend, Op op_a, Op op_b, T alpha, In<T> a, In<T> b, T beta, Out<T> c) {
  if (c.rows == 0 || c.cols == 0) return;
  const std::int64_t inner = op_a == Op::none ? a.cols : a.rows;
  if (inner == 0) {
    if (beta == 0) {
      backend.combine(std::span<const Term<T>>(), c);
    } else {
      const Term<T> self{.x = c, .scale = static_cast<double>(beta)};
      backend.combine(std::span(&self, 1), c);
    }
    return;
  }
  // Row-major C = op(A) op(B) is column-major C' = op(B)' op(A)'.
  check(call_gemm(backend.blas(), operation(op_b), operation(op_a), static_cast<int>(c.cols),
                  static_cast<int>(c.rows), static_cast<int>(inner), &alpha, b.data, leading(b), a.data,
                  leading(a), &beta, c.data, leading(c)),
        "a matrix product");
}

/// A's rows in float64, some at a time.
void multiply_widened(CudaBackend& backend, Op op_a, Op op_b, double alpha, In<float> a, In<double> b,
                      double beta, Out<double> c) {
  constexpr std::int64_t rows_at_a_time = 1024;
  if (a.rows == 0 || a.cols == 0)
    return multiply<double>(backend, op_a, op_b, alpha, {nullptr, a.rows, a.cols, a.stride}, b, beta, c);
  const Array<double> room(backend, std::min(rows_at_a_time, a.rows) * a.cols);
  for (std::int64_t first = 0; first < a.rows; first += rows_at_a_time) {
    const std::int64_t count = std::min(rows_at_a_time, a.rows - first);
    const Out<double> wide{room.data(), count, a.cols, a.cols};
    backend.copy(a.block(first, count), wide);
    if (op_a == Op::none) {
      multiply<double>(backend, op_a, op_b, alpha, wide, b, beta, c.block(first, count));
    } else {
      const In<double> part = op_b == Op::none ? b.block(first, count) : b.columns(first, count);
      multiply<double>(backend, op_a, op_b, alpha, wide, part, first == 0 ? beta : 1.0, c);
    }
  }
}

// Sparse times dense. A warp takes a piece of a row and `lanes` columns, in vectors of V.

template <class T, int V>
struct Vector;
template <>
struct Vector<float, 4> {
  using type = float4;
};
template <>
struct Vector<double, 2> {
  using type = double2;
};
template <class T>
struct Vector<T, 1> {
  using type = T;
};

template <class T, int V>
__device__ void load(const T* from, T (&to)[V]) {
  const auto packed = *reinterpret_cast<const typename Vector<T, V>::type*>(from);
  const T* const parts = reinterpret_cast<const T*>(&packed);
#pragma unroll
  for (int v = 0; v < V; ++v) to[v] = parts[v];
}

constexpr int warps_per_block = threads / 32;
/// Entries added in T before float64 takes over.
constexpr int run = 32;

template <class T, int V, bool weighted>
__global__ void spmm_kernel(Sparse x, In<T> b, Out<T> y, double* slots) {
  const std::int64_t warp = blockIdx.x * static_cast<std::int64_t>(warps_per_block) + threadIdx.x / 32;
  const std::int64_t tiles = (b.cols + 32 * V - 1) / (32 * V);
  const std::int64_t piece = warp / tiles;
  const std::int64_t count = x.piece_rows == nullptr ? x.rows : x.pieces;
  if (piece >= count) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t column = (warp % tiles) * (32 * V) + lane * V;
  const std::int64_t row = x.piece_rows == nullptr ? piece : x.piece_rows[piece];
  const std::int64_t begin = x.piece_rows == nullptr ? x.offsets[row] : x.piece_begins[piece];
  std::int64_t end = x.offsets[row + 1];
  if (x.piece_rows != nullptr && end > begin + piece_entries) end = begin + piece_entries;
  const bool live = column < b.cols;
  const T* const base = b.data + (live ? column : 0);
  double total[V] = {};
  for (std::int64_t first = begin; first < end; first += run) {
    const int size = end - first < run ? static_cast<int>(end - first) : run;
    const std::int32_t mine = lane < size ? x.indices[first + lane] : 0;
    float weight = 1;
    if constexpr (weighted) weight = lane < size ? x.values[first + lane] : 0.0F;
    T sum[V] = {};
#pragma unroll 4
    for (int e = 0; e < size; ++e) {
      const std::int64_t index = __shfl_sync(0xffffffffU, mine, e);
      T entries[V];
      load<T, V>(base + index * b.stride, entries);
      if constexpr (weighted) {
        const T factor = static_cast<T>(__shfl_sync(0xffffffffU, weight, e));
#pragma unroll
        for (int v = 0; v < V; ++v) sum[v] += factor * entries[v];
      } else {
#pragma unroll
        for (int v = 0; v < V; ++v) sum[v] += entries[v];
      }
    }
#pragma unroll
    for (int v = 0; v < V; ++v) total[v] += static_cast<double>(sum[v]);
  }
  const std::int32_t slot = x.piece_rows == nullptr ? -1 : x.piece_slots[piece];
#pragma unroll
  for (int v = 0; v < V; ++v) {
    if (column + v >= b.cols) continue;
    if (slot < 0) {
      y.data[row * y.stride + column + v] = static_cast<T>(total[v]);
    } else {
      slots[static_cast<std::int64_t>(slot) * b.cols + column + v] = total[v];
    }
  }
}

/// The pieces of long rows, in order.
template <class T>
__global__ void sum_pieces_kernel(Sparse x, const double* slots, Out<T> y) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= y.cols) return;
  for (std::int64_t k = blockIdx.y; k < x.cut_rows; k += gridDim.y) {
    double sum = 0;
    for (std::int64_t slot = x.cut_first_slot[k]; slot < x.cut_first_slot[k + 1]; ++slot)
      sum += slots[slot * y.cols + j];
    y.data[static_cast<std::int64_t>(x.cut_row[k]) * y.stride + j] = static_cast<T>(sum);
  }
}

template <class T, int V>
void launch_spmm(CudaBackend& backend, const Sparse& x, In<T> b, Out<T> y, double* slots) {
  const std::int64_t tiles = (b.cols + 32 * V - 1) / (32 * V);
  const std::int64_t warps = (x.piece_rows == nullptr ? x.rows : x.pieces) * tiles;
  const unsigned blocks = grid(warps, warps_per_block);
  if (x.values != nullptr) {
    spmm_kernel<T, V, true><<<blocks, threads, 0, backend.stream()>>>(x, b, y, slots);
  } else {
    spmm_kernel<T, V, false><<<blocks, threads, 0, backend.stream()>>>(x, b, y, slots);
  }
  check_launch("a sparse product");
}

template <class T>
void sparse_product(CudaBackend& backend, CsrView x, In<T> b, Out<T> y) {
  if (y.rows == 0 || y.cols == 0) return;
  const auto copy = backend.sparse(x);
  const Sparse& sparse = copy->view;
  const Array<double> slots(backend, sparse.slots * b.cols);
  constexpr int wide = 16 / sizeof(T);
  // The last vector of a row may reach into its padding, which is there to be read.
  const bool vectors = b.rows > 0 && reinterpret_cast<std::uintptr_t>(b.data) % 16 == 0 &&
                       b.stride % wide == 0 && b.stride >= (b.cols + wide - 1) / wide * wide;
  if (vectors) {
    launch_spmm<T, wide>(backend, sparse, b, y, slots.data());
  } else {
    launch_spmm<T, 1>(backend, sparse, b, y, slots.data());
  }
  if (sparse.cut_rows > 0) {
    const dim3 blocks{grid(y.cols, threads),
                      static_cast<unsigned>(std::min<std::int64_t>(sparse.cut_rows, 65535)), 1};
    sum_pieces_kernel<<<blocks, threads, 0, backend.stream()>>>(sparse, slots.data(), y);
    check_launch("a sparse product");
  }
}

/// Sparse times sparse. A block takes a row at a time, its sums in a row of `room`; the entries of a row of B
/// lie in different columns, so that threads do not meet.
__global__ void sparse_sparse_kernel(Sparse x, Sparse b, double* room, Out<float> y) {
  double* const sums = room + blockIdx.x * y.cols;
  for (std::int64_t row = blockIdx.x; row < y.rows; row += gridDim.x) {
    for (std::int64_t j = threadIdx.x; j < y.cols; j += threads) sums[j] = 0;
    __syncthreads();
    for (std::int64_t e = x.offsets[row]; e < x.offsets[row + 1]; ++e) {
      const double value = x.values == nullptr ? 1.0 : x.values[e];
      const std::int64_t i = x.indices[e];
      for (std::int64_t k = b.offsets[i] + threadIdx.x; k < b.offsets[i + 1]; k += threads)
        sums[b.indices[k]] += b.values == nullptr ? value : value * b.values[k];
      __syncthreads();
    }
    for (std::int64_t j = threadIdx.x; j < y.cols; j += threads)
      y.data[row * y.stride + j] = static_cast<float>(sums[j]);
  }
}

}  // namespace
}  // namespace cuda

void CudaBackend::gemm(Op op_a, Op op_b, float alpha, In<float> a, In<float> b, float beta, Out<float> c) {
  cuda::multiply(*this, op_a, op_b, alpha, a, b, beta, c);
}
void CudaBackend::gemm(Op op_a, Op op_b, double alpha, In<double> a, In<double> b, double beta,
                       Out<double> c) {
  cuda::multiply(*this, op_a, op_b, alpha, a, b, beta, c);
}
void CudaBackend::gemm(Op op_a, Op op_b, double alpha, In<float> a, In<double> b, double beta,
                       Out<double> c) {
  cuda::multiply_widened(*this, op_a, op_b, alpha, a, b, beta, c);
}

void CudaBackend::spmm(CsrView x, In<float> b, Out<float> y) { cuda::sparse_product(*this, x, b, y); }
void CudaBackend::spmm(CsrView x, In<double> b, Out<double> y) { cuda::sparse_product(*this, x, b, y); }
void CudaBackend::spmm(CsrView x, CsrView b, Out<float> y) {
  if (y.rows == 0 || y.cols == 0) return;
  const auto left = sparse(x);
  const auto right = sparse(b);
  const std::int64_t blocks = std::min<std::int64_t>(y.rows, 8 * std::int64_t{multiprocessors()});
  const cuda::Array<double> room(*this, blocks * y.cols);
  cuda::sparse_sparse_kernel<<<static_cast<unsigned>(blocks), cuda::threads, 0, stream()>>>(
      left->view, right->view, room.data(), y);
  cuda::check_launch("a sparse product");
}

void CudaBackend::factor_scores(In<float> z, In<float> v, Out<float> y) {
  gemm(Op::none, Op::transpose, 1.0F, z, v, 0.0F, y);
}

}  // namespace poise
