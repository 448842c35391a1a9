#include <algorithm>
#include <memory>
#include <vector>

#include "poise/backend/cuda/row_pass.cuh"

namespace poise::cuda {
namespace {

constexpr int threads = 256;
constexpr int bins = 40;
constexpr std::int64_t long_row = 1024;
constexpr std::int64_t middle_row = 96;

/// By class, and within a class by the length's power of two, long rows first.
__device__ int bin_of(std::int64_t size) {
  const int power = size == 0 ? 0 : 64 - __clzll(size);  // at most 31 for any list of 32-bit numbers
  if (size > long_row) return 31 - power;
  if (size > middle_row) return 31 - power + 1;  // 97 .. 1024 has powers of 7 to 11, at 21 and beyond
  return 31 - power + 2;
}

__global__ void count_bins_kernel(Sparse x, int* counts) {
  for (std::int64_t row = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; row < x.rows;
       row += static_cast<std::int64_t>(gridDim.x) * blockDim.x)
    atomicAdd(counts + bin_of(x.offsets[row + 1] - x.offsets[row]), 1);
}

/// The order of rows within a bin changes no result.
__global__ void fill_bins_kernel(Sparse x, int* next, std::int32_t* rows) {
  for (std::int64_t row = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; row < x.rows;
       row += static_cast<std::int64_t>(gridDim.x) * blockDim.x)
    rows[atomicAdd(next + bin_of(x.offsets[row + 1] - x.offsets[row]), 1)] = static_cast<std::int32_t>(row);
}

}  // namespace

const RowClasses& row_classes(CudaBackend& backend, const SparseCopy& copy) {
  if (copy.classes != nullptr) return *copy.classes;
  const Sparse& x = copy.view;
  auto classes = std::make_shared<RowClasses>();
  if (x.rows > 0) {
    const Array<int> counts(backend, bins);
    check(cudaMemsetAsync(counts.data(), 0, bins * sizeof(int), backend.stream()), "ordering rows");
    const unsigned blocks = std::min(grid(x.rows, threads), 1024U);
    count_bins_kernel<<<blocks, threads, 0, backend.stream()>>>(x, counts.data());
    check_launch("ordering rows");
    std::vector<int> sizes(bins);
    backend.download(counts, std::span(sizes));
    std::vector<int> begins(bins + 1);
    for (int k = 0; k < bins; ++k) begins[k + 1] = begins[k] + sizes[k];
    const Array<int> next = backend.upload(std::span<const int>(begins));
    classes->rows = Array<std::int32_t>(backend, x.rows);
    fill_bins_kernel<<<blocks, threads, 0, backend.stream()>>>(x, next.data(), classes->rows.data());
    check_launch("ordering rows");
    // See bin_of: rows beyond 1024 entries end with bin 31 - 11, those beyond 96 with bin 31 - 7 + 1.
    classes->begin[1] = begins[21];
    classes->begin[2] = begins[26];
    classes->begin[3] = x.rows;
  }
  copy.classes = classes;
  return *copy.classes;
}

}  // namespace poise::cuda
