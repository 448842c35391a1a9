#include <algorithm>
#include <bit>

#include "poise/backend/cuda/cuda_backend.hpp"
#include "poise/base/error.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/top_k.hpp"

namespace poise {
namespace {

using Key = unsigned long long;  // the type of CUDA's atomics

constexpr int threads_per_block = 512;
constexpr int digit_bits = 11;
constexpr int bins = 1 << digit_bits;
/// The most that is sorted in shared memory; longer lists are made on the host.
constexpr std::int64_t longest_list = 8192;
/// Masks above this lie in global memory, which the caches serve.
constexpr std::int64_t shared_mask_bytes = 16384;
constexpr Key no_nan = ~Key{0};

/// As in linalg/top_k.cpp: larger for the better candidate, and never 0 for a number.
__device__ Key to_key(float score, std::int64_t item) {
  const unsigned bits = __float_as_uint(score + 0.0F);
  const unsigned ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  return (Key{ordered} << 32) | (0xFFFFFFFFU - static_cast<unsigned>(item));
}

__device__ std::int32_t item_of(Key key) {
  return static_cast<std::int32_t>(0xFFFFFFFFU - static_cast<unsigned>(key));
}

/// Which items of a row may not be ranked, one bit each.
struct Mask {
  unsigned* words;
  __device__ bool operator()(std::int64_t item) const {
    return ((words[item >> 5] >> (item & 31)) & 1U) != 0;
  }
};

/// The block's shared state while it selects.
struct Selected {
  Key prefix;   ///< the keys of the list are those of at least this
  Key decided;  ///< the bits of it that are known
  unsigned left;
  unsigned count;
  bool done;
};

/// Within the digit's counts, the bin in which the `left`-th largest key lies. By the first warp.
__device__ void choose_bin(const unsigned* counts, int shift, int width, Selected& selected) {
  const int lane = static_cast<int>(threadIdx.x);
  constexpr int per_lane = bins / 32;
  // Lane 0 has the highest bins.
  const int top = bins - 1 - lane * per_lane;
  unsigned sum = 0;
  for (int b = 0; b < per_lane; ++b) sum += counts[top - b];
  unsigned up_to = sum;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(~0U, up_to, step);
    if (lane >= step) up_to += other;
  }
  const unsigned left = selected.left;
  __syncwarp();
  unsigned above = up_to - sum;
  if (above < left && left <= up_to) {  // true in one lane
    int bin = top;
    while (above + counts[bin] < left) above += counts[bin--];
    selected.prefix |= static_cast<Key>(bin) << shift;
    selected.decided |= ((Key{1} << width) - 1) << shift;
    selected.left = left - above;
    selected.done = counts[bin] == left - above;  // all of the bin belongs to the list
  }
}

/// Bitonic; keys are distinct, so that the result does not depend on their initial order.
__device__ void sort_descending(Key* list, int padded) {
  for (int length = 2; length <= padded; length *= 2) {
    for (int step = length / 2; step > 0; step /= 2) {
      for (int p = static_cast<int>(threadIdx.x); p < padded; p += threads_per_block) {
        const int q = p ^ step;
        if (q <= p) continue;
        const Key a = list[p];
        const Key b = list[q];
        if (((p & length) == 0) == (a < b)) {
          list[p] = b;
          list[q] = a;
        }
      }
      __syncthreads();
    }
  }
}

/// One block a row at a time: radix selection of the key of the last place, digit by digit, over the scores
/// and, where scores tie, over the items; then the list is collected and sorted. `nan` becomes the lowest
/// place (row * cols + item) of a NaN.
__global__ void __launch_bounds__(threads_per_block)
    top_k_rows(In<float> scores, cuda::Sparse excluded, std::int64_t k, int padded, unsigned* global_masks,
               std::int64_t words, std::int32_t* items, float* top_scores, std::int32_t* sizes, Key* nan) {
  extern __shared__ Key list[];  // padded keys, then the counts, then the mask where it fits
  unsigned* const counts = reinterpret_cast<unsigned*>(list + padded);
  __shared__ Selected selected;
  const std::int64_t n = scores.cols;
  const int thread = static_cast<int>(threadIdx.x);
  const Mask is_out{global_masks != nullptr ? global_masks + blockIdx.x * words : counts + bins};

  for (std::int64_t row = blockIdx.x; row < scores.rows; row += gridDim.x) {
    const float* const score = scores.data + row * scores.stride;
    const std::int64_t first_out = excluded.offsets[row];
    const std::int64_t last_out = excluded.offsets[row + 1];
    const std::int64_t size = min(k, n - (last_out - first_out));
    for (std::int64_t w = thread; w < words; w += threads_per_block) is_out.words[w] = 0;
    if (thread == 0) selected = {0, 0, static_cast<unsigned>(size), 0, size <= 0};
    __syncthreads();
    for (std::int64_t e = first_out + thread; e < last_out; e += threads_per_block) {
      const std::int32_t item = excluded.indices[e];
      atomicOr(&is_out.words[item >> 5], 1U << (item & 31));
    }
    for (std::int64_t i = thread; i < n; i += threads_per_block) {
      if (isnan(score[i])) atomicMin(nan, static_cast<Key>(row * n + i));
    }
    __syncthreads();

    for (int shift = 64; shift > 0 && !selected.done;) {
      // 11, 11 and 10 bits of the score, then of the item.
      const int width = shift == 42 || shift == 10 ? 10 : digit_bits;
      shift -= width;
      for (int b = thread; b < bins; b += threads_per_block) counts[b] = 0;
      __syncthreads();
      const Key prefix = selected.prefix;
      const Key decided = selected.decided;
      for (std::int64_t i = thread; i < n; i += threads_per_block) {
        const Key key = to_key(score[i], i);
        if ((key & decided) == prefix && !is_out(i))
          atomicAdd(&counts[(key >> shift) & ((1U << width) - 1)], 1U);
      }
      __syncthreads();
      if (thread < 32) choose_bin(counts, shift, width, selected);
      __syncthreads();
    }

    if (size > 0) {
      const Key least = selected.prefix;
      for (std::int64_t i = thread; i < n; i += threads_per_block) {
        const Key key = to_key(score[i], i);
        if (key >= least && !is_out(i)) {
          const unsigned place = atomicAdd(&selected.count, 1U);
          if (place < static_cast<unsigned>(padded)) list[place] = key;  // all of them fit, but for NaNs
        }
      }
      for (int p = static_cast<int>(size) + thread; p < padded; p += threads_per_block) list[p] = 0;
    }
    __syncthreads();
    if (size > 0) sort_descending(list, padded);
    for (std::int64_t p = thread; p < size; p += threads_per_block) {
      const std::int32_t item = item_of(list[p]);
      items[row * k + p] = item;
      top_scores[row * k + p] = item >= 0 && item < n ? score[item] : 0.0F;
    }
    if (thread == 0) sizes[row] = static_cast<std::int32_t>(max(size, std::int64_t{0}));
    __syncthreads();
  }
}

/// The same on the host: lists that do not fit, and those of few items.
RankedLists made_on_host(CudaBackend& backend, In<float> scores, CsrView excluded, std::int64_t k,
                         std::optional<Indices> only) {
  RankedLists lists(scores.rows, k);
  const Tiling blocks{scores.rows, 1024};
  Matrix<float> table(std::min(scores.rows, blocks.size), scores.cols);
  for (std::int64_t block = 0; block < blocks.tiles(); ++block) {
    const std::int64_t first = blocks.first(block);
    const std::int64_t count = blocks.last(block) - first;
    backend.download(scores.block(first, count), table.view().block(0, count));
    const Tiling tiles{count, 16};
    for_each_tile(tiles.tiles(), backend.threads(), [&](std::int64_t tile) {
      for (std::int64_t r = tiles.first(tile); r < tiles.last(tile); ++r) {
        lists.resize(first + r,
                     poise::top_k(table.row(r), {.excluded = excluded.row(first + r), .only = only},
                                  lists.item_slots(first + r), lists.score_slots(first + r)));
      }
    });
  }
  return lists;
}

}  // namespace

RankedLists CudaBackend::top_k(In<float> scores, CsrView excluded, std::int64_t k,
                               std::optional<Indices> only) {
  k = std::min(k, scores.cols);
  if (only || k > longest_list) return made_on_host(*this, scores, excluded, k, only);
  RankedLists lists(scores.rows, k);
  if (scores.rows == 0 || k == 0) return lists;
  const auto out = sparse(excluded);
  const auto padded = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(k)));
  const std::int64_t words = (scores.cols + 31) / 32;
  const bool mask_is_shared = 4 * words <= shared_mask_bytes;
  const std::int64_t shared =
      8 * padded + 4 * std::int64_t{bins} + (mask_is_shared ? 4 * words : std::int64_t{0});
  if (shared + 64 > shared_bytes()) return made_on_host(*this, scores, excluded, k, only);
  cuda::check(
      cudaFuncSetAttribute(top_k_rows, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
      "top-k");
  const std::int64_t blocks = std::min<std::int64_t>(scores.rows, 8 * std::int64_t{multiprocessors()});
  const cuda::Array<unsigned> masks(*this, mask_is_shared ? 0 : blocks * words);
  const cuda::Array<std::int32_t> items(*this, scores.rows * k);
  const cuda::Array<float> top_scores(*this, scores.rows * k);
  const cuda::Array<std::int32_t> sizes(*this, scores.rows);
  const cuda::Array<Key> nan = upload(std::span<const Key>({no_nan}));
  top_k_rows<<<static_cast<unsigned>(blocks), threads_per_block, shared, stream()>>>(
      scores, out->view, k, padded, masks.data(), words, items.data(), top_scores.data(), sizes.data(),
      nan.data());
  cuda::check_launch("top-k");
  Key first_nan[1];
  download(nan, std::span<Key>(first_nan));
  if (first_nan[0] != no_nan) {
    fail(ErrorKind::numerical, "the score of item number {} is not a number: the model is not usable",
         first_nan[0] % static_cast<Key>(scores.cols));
  }
  std::vector<std::int32_t> counts(scores.rows);
  download(sizes, std::span<std::int32_t>(counts));
  // Row after row, as the lists lie on the host too.
  download(items, std::span(lists.item_slots(0).data(), static_cast<std::size_t>(scores.rows * k)));
  download(top_scores, std::span(lists.score_slots(0).data(), static_cast<std::size_t>(scores.rows * k)));
  for (std::int64_t row = 0; row < scores.rows; ++row) lists.resize(row, counts[row]);
  return lists;
}

}  // namespace poise
