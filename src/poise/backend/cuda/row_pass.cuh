#pragma once

#include <cstdint>
#include <type_traits>

#include "poise/backend/cuda/cuda_backend.hpp"

/// Common parts of the kernels over the entries of sparse rows: a block of W warps has a row and computes
/// sum_e (w_e - c_e (z_e . x)) z_e over its entries.
namespace poise::cuda {

constexpr unsigned full_warp = 0xffffffffU;

/// Entries that a warp takes at a time, and batches that are added in float32 before float64 takes over.
constexpr int batch_entries = 32;
constexpr int batches_per_run = 2;

/// The sum over the lanes of a warp, the same in all of them.
template <class T>
__device__ inline T warp_total(T value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(full_warp, value, offset);
  return value;
}

template <int W>
__device__ inline void block_sync() {
  if constexpr (W == 1) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// The sum over the threads of a block, the same in all of them; `scratch` holds W numbers. All threads must
/// come here.
template <int W>
__device__ inline double block_total(double value, double* scratch) {
  value = warp_total(value);
  if constexpr (W == 1) return value;
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  double total = 0;
#pragma unroll
  for (int warp = 0; warp < W; ++warp) total += scratch[warp];
  __syncthreads();
  return total;
}

/// A row of a sparse matrix with c and w of its entries, null for zeros.
struct RowEntriesView {
  const std::int32_t* indices;
  const float* c;
  const float* w;
  std::int64_t count;
};

__device__ inline RowEntriesView row_entries(const Sparse& x, const float* c, const float* w,
                                             std::int64_t row) {
  const std::int64_t begin = x.offsets[row];
  return {x.indices + begin, c == nullptr ? nullptr : c + begin, w == nullptr ? nullptr : w + begin,
          x.offsets[row + 1] - begin};
}

/// Factors up to 128 NV columns (4 G for G < 32), whose rows begin at multiples of 16 bytes and may be read
/// up to the next one. G lanes share a row of factors, so that a warp takes 32 / G entries side by side;
/// every lane holds NV vectors of four columns of x and of its sums.
template <int G, int NV, int W>
struct NarrowPass {
  static constexpr int warps = W;
  static constexpr int most_columns = 4 * G * NV;
  static constexpr int together = 32 / G;
  /// Blocks that a multiprocessor's registers must hold at once, or 0. Without it the compiler spends a third
  /// more registers on these, and the gathers of fewer rows overlap.
  static constexpr int resident_blocks = NV == 1 && W == 4 ? 7 : 0;

  /// Bytes of shared memory for the sums.
  static constexpr std::int64_t bytes(std::int64_t /*columns*/) { return 8LL * W * most_columns; }
  /// Columns of vectors in shared memory, those beyond d being 0.
  static constexpr std::int64_t padded(std::int64_t /*columns*/) { return most_columns; }

  __device__ static float4 load(const float* row, int column, int d) {
    float4 z = {0, 0, 0, 0};
    if (column < d) {
      z = *reinterpret_cast<const float4*>(row + column);
      if (column + 4 > d) {  // columns beyond d are undefined
        z.w = 0;
        if (column + 3 > d) z.z = 0;
        if (column + 2 > d) z.y = 0;
      }
    }
    return z;
  }

  /// This lane's part of z . x.
  template <class Sum>
  __device__ __forceinline__ static Sum dot(const float4 (&z)[NV], const float4 (&x)[NV]) {
    Sum t = 0;
#pragma unroll
    for (int v = 0; v < NV; ++v) {
      t += static_cast<Sum>(z[v].x) * static_cast<Sum>(x[v].x);
      t += static_cast<Sum>(z[v].y) * static_cast<Sum>(x[v].y);
      t += static_cast<Sum>(z[v].z) * static_cast<Sum>(x[v].z);
      t += static_cast<Sum>(z[v].w) * static_cast<Sum>(x[v].w);
    }
    return t;
  }

  /// own += the lanes' sums, which become 0.
  template <class Sum>
  __device__ __forceinline__ static void flush(Sum (&sum)[NV][4], double* own) {
    const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int v = 0; v < NV; ++v) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        Sum value = sum[v][j];
#pragma unroll
        for (int offset = G; offset < 32; offset *= 2) value += __shfl_xor_sync(full_warp, value, offset);
        if (lane / G == 0) own[4 * (v * G + lane % G) + j] += static_cast<double>(value);
        sum[v][j] = 0;
      }
    }
  }

  /// sums[k] = the warps' sums of column k, in their order.
  __device__ __forceinline__ static void add_warps(double* sums, int d) {
    for (int k = static_cast<int>(threadIdx.x); k < d; k += 32 * W) {
      double total = 0;
#pragma unroll
      for (int other = 0; other < W; ++other) total += sums[other * most_columns + k];
      sums[k] = total;
    }
    __syncthreads();
  }

  /// sums[0 .. d) = the sum over the entries, in float64 from runs in float32, or all in float64 (`exact`);
  /// returns this thread's part of sum_e t_e (w_e + s_e). `x` lies in shared memory, padded. All threads
  /// must come here; on return the sums can be read.
  template <bool exact>
  __device__ static double run(const RowEntriesView& entries, In<float> factors, const float* x,
                               double* sums) {
    using Sum = std::conditional_t<exact, double, float>;
    const int d = static_cast<int>(factors.cols);
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int place = lane % G;
    const int group = lane / G;
    double* const own = sums + warp * most_columns;
    for (int k = lane; k < most_columns; k += 32) own[k] = 0;
    float4 at[NV];
#pragma unroll
    for (int v = 0; v < NV; ++v) at[v] = *reinterpret_cast<const float4*>(x + 4 * (v * G + place));
    __syncwarp();

    Sum sum[NV][4] = {};
    double explained = 0;
    int batches = 0;
    for (std::int64_t first = static_cast<std::int64_t>(warp) * batch_entries; first < entries.count;
         first += W * batch_entries) {
      const std::int64_t left = entries.count - first;
      const int size = left < batch_entries ? static_cast<int>(left) : batch_entries;
      const std::int32_t my_index = lane < size ? entries.indices[first + lane] : 0;
      const float my_c = entries.c != nullptr && lane < size ? entries.c[first + lane] : 0.0F;
      const float my_w = entries.w != nullptr && lane < size ? entries.w[first + lane] : 0.0F;
      constexpr int ahead = NV <= 2 ? 4 : NV <= 4 ? 2 : 1;
      for (int e = 0; e < size; e += ahead * together) {
        float4 z[ahead][NV];
#pragma unroll
        for (int a = 0; a < ahead; ++a) {
          const int mine = e + a * together + group;
          const std::int64_t index = __shfl_sync(full_warp, my_index, mine);
          const float* const row = factors.data + index * factors.stride;
          const int columns = mine < size ? d : 0;
#pragma unroll
          for (int v = 0; v < NV; ++v) z[a][v] = load(row, 4 * (v * G + place), columns);
        }
        Sum t[ahead];
#pragma unroll
        for (int a = 0; a < ahead; ++a) t[a] = dot<Sum>(z[a], at);
#pragma unroll
        for (int offset = G / 2; offset > 0; offset /= 2) {
#pragma unroll
          for (int a = 0; a < ahead; ++a) t[a] += __shfl_xor_sync(full_warp, t[a], offset);
        }
#pragma unroll
        for (int a = 0; a < ahead; ++a) {
          const int mine = e + a * together + group;
          const Sum c = __shfl_sync(full_warp, my_c, mine);
          const Sum w = __shfl_sync(full_warp, my_w, mine);
          const Sum s = mine < size ? w - c * t[a] : Sum{0};
          if (place == 0 && mine < size)
            explained += static_cast<double>(t[a]) * (static_cast<double>(w) + static_cast<double>(s));
#pragma unroll
          for (int v = 0; v < NV; ++v) {
            sum[v][0] += s * static_cast<Sum>(z[a][v].x);
            sum[v][1] += s * static_cast<Sum>(z[a][v].y);
            sum[v][2] += s * static_cast<Sum>(z[a][v].z);
            sum[v][3] += s * static_cast<Sum>(z[a][v].w);
          }
        }
      }
      if (!exact && ++batches == batches_per_run) {
        flush(sum, own);
        batches = 0;
      }
    }
    flush(sum, own);
    block_sync<W>();
    if constexpr (W > 1) add_warps(sums, d);
    return explained;
  }
};

/// Factors of any width, in two steps for each chunk of entries: their dots, a warp each, then the sums, a
/// thread each column. Reads factors twice.
template <int W>
struct WidePass {
  static constexpr int warps = W;
  static constexpr int resident_blocks = 0;
  static constexpr int chunk = batch_entries * batches_per_run;

  static constexpr std::int64_t bytes(std::int64_t columns) { return 8 * (padded(columns) + chunk); }
  static constexpr std::int64_t padded(std::int64_t columns) { return (columns + 3) / 4 * 4; }

  template <bool exact>
  __device__ static double run(const RowEntriesView& entries, In<float> factors, const float* x,
                               double* sums) {
    using Sum = std::conditional_t<exact, double, float>;
    const int d = static_cast<int>(factors.cols);
    double* const scales = sums + padded(d);
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warp = static_cast<int>(threadIdx.x / 32);
    for (int k = static_cast<int>(threadIdx.x); k < d; k += 32 * W) sums[k] = 0;
    double explained = 0;
    for (std::int64_t first = 0; first < entries.count; first += chunk) {
      const std::int64_t left = entries.count - first;
      const int size = left < chunk ? static_cast<int>(left) : chunk;
      for (int e = warp; e < size; e += W) {
        const float* const row = factors.data + entries.indices[first + e] * factors.stride;
        Sum t = 0;
        for (int k = lane; k < d; k += 32) t += static_cast<Sum>(row[k]) * static_cast<Sum>(x[k]);
        t = warp_total(t);
        const Sum c = entries.c == nullptr ? 0.0F : entries.c[first + e];
        const Sum w = entries.w == nullptr ? 0.0F : entries.w[first + e];
        const Sum s = w - c * t;
        if (lane == 0) {
          scales[e] = static_cast<double>(s);
          explained += static_cast<double>(t) * (static_cast<double>(w) + static_cast<double>(s));
        }
      }
      __syncthreads();
      for (int k = static_cast<int>(threadIdx.x); k < d; k += 32 * W) {
        Sum sum = 0;
        for (int e = 0; e < size; ++e) {
          const std::int64_t index = entries.indices[first + e];
          sum += static_cast<Sum>(scales[e]) * static_cast<Sum>(factors.data[index * factors.stride + k]);
        }
        sums[k] += static_cast<double>(sum);
      }
      __syncthreads();
    }
    __syncthreads();
    return explained;
  }
};

/// Class 0 has rows of more than 1024 entries, class 1 of more than 96, class 2 the others.
constexpr int long_class_warps = 16;
constexpr int middle_class_warps = 4;
const RowClasses& row_classes(CudaBackend& backend, const SparseCopy& x);

/// Calls body(warps, row numbers, count, stream) for each class that has rows, `warps` being the number of
/// its blocks' warps as a type, on streams of their own, so that the classes run side by side; what comes
/// after on the backend's stream waits for all of them.
template <class Body>
void for_each_class(CudaBackend& backend, const RowClasses& classes, const Body& body) {
  backend.fork();
  try {
    const auto one = [&](int k, auto warps) {
      const std::int64_t count = classes.begin[k + 1] - classes.begin[k];
      if (count > 0) body(warps, classes.rows.data() + classes.begin[k], count, backend.side_stream(k));
    };
    one(0, std::integral_constant<int, long_class_warps>());
    one(1, std::integral_constant<int, middle_class_warps>());
    one(2, std::integral_constant<int, 1>());
  } catch (...) {
    // Kernels that were started may still use memory that is released during unwinding.
    static_cast<void>(cudaDeviceSynchronize());
    throw;
  }
  backend.join();
}

/// Calls body(pass) with the narrow pass of W warps for this width; false if the width is too large.
template <int W, class Body>
bool with_narrow_pass(std::int64_t columns, const Body& body) {
  if (columns <= 64) {
    body(NarrowPass<16, 1, W>());
  } else if (columns <= 128) {
    body(NarrowPass<32, 1, W>());
  } else if (columns <= 256) {
    body(NarrowPass<32, 2, W>());
  } else if (columns <= 512) {
    body(NarrowPass<32, 4, W>());
  } else if (columns <= 1024) {
    body(NarrowPass<32, 8, W>());
  } else {
    return false;
  }
  return true;
}

/// Factors as the narrow passes need them: the view itself, or a copy with rows at multiples of 128 bytes.
class AlignedFactors {
 public:
  AlignedFactors(CudaBackend& backend, In<float> factors) : view_(factors) {
    const bool fits = reinterpret_cast<std::uintptr_t>(factors.data) % 16 == 0 && factors.stride % 4 == 0 &&
                      factors.stride >= (factors.cols + 3) / 4 * 4;
    if (fits || factors.rows * factors.cols == 0) return;
    const std::int64_t stride = (factors.cols + 31) / 32 * 32;
    copy_ = Array<float>(backend, factors.rows * stride);
    backend.copy(factors, Out<float>{copy_.data(), factors.rows, factors.cols, stride});
    view_ = {copy_.data(), factors.rows, factors.cols, stride};
  }
  [[nodiscard]] In<float> view() const { return view_; }

 private:
  Array<float> copy_;
  In<float> view_;
};

/// Starts a kernel that may need more shared memory than blocks have by default.
template <class... Parameters, class... Arguments>
void launch(const char* what, void (*kernel)(Parameters...), std::int64_t blocks, int threads,
            std::int64_t shared, cudaStream_t stream, Arguments&&... arguments) {
  if (shared > 48 * 1024) {
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                               cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
          what);
  }
  kernel<<<static_cast<unsigned>(blocks), threads, static_cast<std::size_t>(shared), stream>>>(arguments...);
  check_launch(what);
}

}  // namespace poise::cuda
