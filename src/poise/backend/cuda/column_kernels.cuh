#pragma once

#include "poise/backend/cuda/cuda_backend.hpp"

namespace poise::cuda {
namespace {

constexpr int threads = 1024;
constexpr int warps = threads / 32;
/// Users of a column that one block processes.
constexpr std::int64_t piece_users = 4096;

/// A part of a column system: entries [begin, begin + count) of its item's users. A system of one piece adds
/// to its row of the result; the others leave their sums in slots.
struct Piece {
  std::int64_t begin;
  std::int64_t scores;  ///< where its users' scores begin
  std::int32_t count;
  std::int32_t system;
  std::int32_t slot;
};

template <class T, class Index>
struct Task {
  const std::int64_t* offsets;
  const Index* items;  ///< of the users, by `offsets`
  const std::int32_t* users;
  const float* weights;  ///< parallel to users; null: all 1
  const Piece* pieces;
  In<T> p;
  double* scores;
  std::int64_t shared_bytes;
};

/// The next users' data, loaded together, so that their latencies overlap.
struct Batch {
  std::int64_t first[threads];
  std::int32_t size[threads];
  double score[threads];
};

/// Users [start, start + threads) of the piece; between barriers.
template <class T, class Index>
__device__ int load_batch(const Task<T, Index>& task, const Piece& piece, int start, bool with_scores,
                          Batch& batch) {
  const int count = piece.count - start < threads ? piece.count - start : threads;
  const int k = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (k < count) {
    const std::int64_t u = task.users[piece.begin + start + k];
    batch.first[k] = task.offsets[u];
    batch.size[k] = static_cast<std::int32_t>(task.offsets[u + 1] - task.offsets[u]);
    if (with_scores) batch.score[k] = task.scores[piece.scores + start + k];
  }
  __syncthreads();
  return count;
}

/// scores[k] = c (x_u . p) for the piece's users, a warp a user, p in shared memory a range at a time.
template <class T, class Index>
__device__ void score_users(const Task<T, Index>& task, const Piece& piece, unsigned char* shared,
                            Batch& batch) {
  T* const range = reinterpret_cast<T*>(shared);
  const std::int64_t n = task.p.cols;
  const std::int64_t size = task.shared_bytes / static_cast<std::int64_t>(sizeof(T));
  const T* const p = task.p.data + piece.system * task.p.stride;
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (std::int64_t low = 0; low < n; low += size) {
    const std::int64_t high = low + size < n ? low + size : n;
    __syncthreads();
    for (std::int64_t j = low + threadIdx.x; j < high; j += threads) range[j - low] = p[j];
    for (int start = 0; start < piece.count; start += threads) {
      const int count = load_batch(task, piece, start, false, batch);
      for (int k = static_cast<int>(threadIdx.x / 32); k < count; k += warps) {
        const Index* const items = task.items + batch.first[k];
        const int length = batch.size[k];
        double sum = 0;
        if (n <= size) {
#pragma unroll 4
          for (int e = lane; e < length; e += 32) sum += static_cast<double>(range[items[e]]);
        } else {
#pragma unroll 4
          for (int e = lane; e < length; e += 32) {
            const std::int64_t j = items[e];
            if (j >= low && j < high) sum += static_cast<double>(range[j - low]);
          }
        }
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffU, sum, offset);
        if (lane == 0) {
          const std::int64_t at = start + k;
          const double c =
              task.weights == nullptr ? 1.0 : static_cast<double>(task.weights[piece.begin + at]);
          double& score = task.scores[piece.scores + at];
          score = low == 0 ? c * sum : score + c * sum;
        }
      }
    }
  }
  __syncthreads();
}

/// The sum of |scores| over the piece, by all threads in a fixed order.
template <class T, class Index>
__device__ double total_score(const Task<T, Index>& task, const Piece& piece) {
  __shared__ double parts[warps + 1];
  double sum = 0;
  for (int k = static_cast<int>(threadIdx.x); k < piece.count; k += threads)
    sum += fabs(task.scores[piece.scores + k]);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffU, sum, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    double total = 0;
    for (int w = 0; w < warps; ++w) total += parts[w];
    parts[warps] = total;
  }
  __syncthreads();
  return parts[warps];
}

/// One block a piece. c (x_u . p) x_u is added up in whole numbers of 64 bits, of a unit so small that the
/// sum of all scores just fits: exact to 2^-62 of that, and the same in any order. A number is two of
/// 32 bits, to which shared memory adds by itself; what the lower one carries is seen from what it was.
template <class T, class Index>
__global__ void __launch_bounds__(threads, 1) hessian_kernel(Task<T, Index> task, Out<T> out, double* slots) {
  extern __shared__ unsigned char shared[];
  __shared__ Batch batch;
  const Piece piece = task.pieces[blockIdx.x];
  score_users(task, piece, shared, batch);
  const double total = total_score(task, piece);
  int exponent = 0;
  frexp(total, &exponent);
  const bool finite = isfinite(total);
  const double scale = finite ? ldexp(1.0, 61 - exponent) : 0.0;
  const double unit = finite ? ldexp(1.0, exponent - 61) : nan("");
  const std::int64_t n = task.p.cols;
  const std::int64_t size = task.shared_bytes / 8;
  unsigned* const lower = reinterpret_cast<unsigned*>(shared);
  unsigned* const upper = lower + (size < n ? size : n);
  const int me = static_cast<int>(threadIdx.x);
  const int lane = me % 32;
  for (std::int64_t low = 0; low < n; low += size) {
    const unsigned width = static_cast<unsigned>(low + size < n ? size : n - low);
    const unsigned begin = static_cast<unsigned>(low);
    for (unsigned j = me; j < width; j += threads) lower[j] = upper[j] = 0;
    for (int start = 0; start < piece.count; start += threads) {
      const int count = load_batch(task, piece, start, true, batch);
      for (int k = me / 32; k < count; k += warps) {
        const Index* const items = task.items + batch.first[k];
        const int length = batch.size[k];
        const long long number = finite ? __double2ll_rn(batch.score[k] * scale) : 0;
        const auto number_low = static_cast<unsigned>(number);
        const auto number_high = static_cast<unsigned>(number >> 32);
        for (int e = lane; e < length; e += 128) {
          unsigned item[4];
#pragma unroll
          for (int m = 0; m < 4; ++m) {
            item[m] = 0xffffffffU;
            if (e + 32 * m < length) item[m] = items[e + 32 * m];
          }
#pragma unroll
          for (int m = 0; m < 4; ++m) {
            const unsigned j = item[m] - begin;
            if (item[m] != 0xffffffffU && j < width) {
              const unsigned before = atomicAdd(lower + j, number_low);
              const unsigned carry = before + number_low < before ? 1U : 0U;
              atomicAdd(upper + j, number_high + carry);
            }
          }
        }
      }
    }
    __syncthreads();
    for (unsigned j = me; j < width; j += threads) {
      const auto number =
          static_cast<long long>((static_cast<unsigned long long>(upper[j]) << 32) | lower[j]);
      const double sum = static_cast<double>(number) * unit;
      if (piece.slot >= 0) {
        slots[piece.slot * n + low + j] = sum;
      } else {
        T& to = out.data[piece.system * out.stride + low + j];
        to = static_cast<T>(static_cast<double>(to) + sum);
      }
    }
    __syncthreads();
  }
}

template <class T, class Index>
__global__ void __launch_bounds__(threads, 1)
    form_kernel(Task<T, Index> task, const float* weights, double* sums) {
  extern __shared__ unsigned char shared[];
  __shared__ Batch batch;
  __shared__ double parts[warps];
  const Piece piece = task.pieces[blockIdx.x];
  score_users(task, piece, shared, batch);
  double sum = 0;
  for (int k = static_cast<int>(threadIdx.x); k < piece.count; k += threads) {
    const double c = weights == nullptr ? 1.0 : static_cast<double>(weights[piece.begin + k]);
    sum += c * task.scores[piece.scores + k];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffU, sum, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double total = 0;
  for (const double part : parts) total += part;
  sums[blockIdx.x] = total;
}

struct Cut {
  std::int32_t system;
  std::int32_t first;
  std::int32_t last;
};

template <class T>
__global__ void add_slots_kernel(const Cut* cuts, std::int64_t count, const double* slots, Out<T> out) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= out.cols) return;
  for (std::int64_t k = blockIdx.y; k < count; k += gridDim.y) {
    double sum = 0;
    for (std::int64_t slot = cuts[k].first; slot < cuts[k].last; ++slot) sum += slots[slot * out.cols + j];
    T& to = out.data[cuts[k].system * out.stride + j];
    to = static_cast<T>(static_cast<double>(to) + sum);
  }
}

__global__ void narrow_kernel(const std::int32_t* from, std::int64_t count, std::uint16_t* to) {
  for (std::int64_t k = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; k < count;
       k += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    to[k] = static_cast<std::uint16_t>(from[k]);
  }
}

}  // namespace
}  // namespace poise::cuda
