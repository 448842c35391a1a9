#include <algorithm>

#include "poise/backend/cuda/blocks.cuh"

namespace poise {
namespace cuda {
namespace {

/// Entries of a row that one block adds up.
constexpr std::int64_t dot_chunk = 8192;
constexpr std::int64_t short_row = 1024;

template <class From, class To>
__global__ void convert_kernel(In<From> from, Out<To> to) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= to.cols) return;
  for (std::int64_t k = blockIdx.y; k < to.rows; k += gridDim.y)
    to.data[k * to.stride + j] = static_cast<To>(from.data[k * from.stride + j]);
}

template <class T>
__global__ void copy_rows_kernel(In<T> from, const std::int32_t* from_rows, Out<T> to,
                                 const std::int32_t* to_rows, std::int64_t count) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= to.cols) return;
  for (std::int64_t k = blockIdx.y; k < count; k += gridDim.y) {
    const std::int64_t source = from_rows == nullptr ? k : from_rows[k];
    const std::int64_t target = to_rows == nullptr ? k : to_rows[k];
    to.data[target * to.stride + j] = from.data[source * from.stride + j];
  }
}

template <class T>
__global__ void add_rows_kernel(const double* factors, In<T> x, Out<T> y, const std::int32_t* rows) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= x.cols) return;
  for (std::int64_t k = blockIdx.y; k < x.rows; k += gridDim.y) {
    if (factors[k] == 0) continue;
    T& to = y.data[static_cast<std::int64_t>(rows[k]) * y.stride + j];
    to = static_cast<T>(static_cast<double>(to) + factors[k] * static_cast<double>(x.data[k * x.stride + j]));
  }
}

__device__ double warp_sum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffU, value, offset);
  return value;
}

/// A warp a row.
template <class T>
__global__ void short_dots_kernel(In<T> x, In<T> y, double* out) {
  const std::int64_t k = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / 32;
  if (k >= x.rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  double sum = 0;
  for (std::int64_t j = lane; j < x.cols; j += 32)
    sum += static_cast<double>(x.data[k * x.stride + j]) * static_cast<double>(y.data[k * y.stride + j]);
  sum = warp_sum(sum);
  if (lane == 0) out[k] = sum;
}

/// A block a chunk of a row; partial sums row by row.
template <class T>
__global__ void chunk_dots_kernel(In<T> x, In<T> y, double* partial) {
  __shared__ double warps[threads / 32];
  const std::int64_t first = blockIdx.x * dot_chunk;
  const std::int64_t last = first + dot_chunk < x.cols ? first + dot_chunk : x.cols;
  for (std::int64_t k = blockIdx.y; k < x.rows; k += gridDim.y) {
    double sum = 0;
    for (std::int64_t j = first + threadIdx.x; j < last; j += threads)
      sum += static_cast<double>(x.data[k * x.stride + j]) * static_cast<double>(y.data[k * y.stride + j]);
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      double total = 0;
      for (const double part : warps) total += part;
      partial[k * gridDim.x + blockIdx.x] = total;
    }
    __syncthreads();
  }
}

__global__ void sum_partials_kernel(const double* partial, std::int64_t chunks, std::int64_t rows,
                                    double* out) {
  const std::int64_t k = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / 32;
  if (k >= rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  double sum = 0;
  for (std::int64_t c = lane; c < chunks; c += 32) sum += partial[k * chunks + c];
  sum = warp_sum(sum);
  if (lane == 0) out[k] = sum;
}

template <class T>
__global__ void get_kernel(In<T> x, const std::int32_t* rows, const std::int32_t* cols, std::int64_t count,
                           double* out) {
  const std::int64_t k = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (k >= count) return;
  const std::int64_t row = rows == nullptr ? k : rows[k];
  out[k] = static_cast<double>(x.data[row * x.stride + cols[k]]);
}

template <class T>
__global__ void set_kernel(Out<T> x, const std::int32_t* cols, const double* values, std::int64_t count) {
  const std::int64_t k = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (k < count) x.data[k * x.stride + cols[k]] = static_cast<T>(values[k]);
}

constexpr int edge = 32;

/// A block exchanges one tile below the diagonal with its mirror image.
__global__ void transpose_kernel(Out<float> a) {
  __shared__ float below[edge][edge + 1];
  __shared__ float above[edge][edge + 1];
  const std::int64_t tile_row = blockIdx.y;
  const std::int64_t tile_col = blockIdx.x;
  if (tile_col > tile_row) return;
  const std::int64_t row = tile_row * edge;
  const std::int64_t col = tile_col * edge;
  for (int i = static_cast<int>(threadIdx.y); i < edge; i += static_cast<int>(blockDim.y)) {
    const std::int64_t c = threadIdx.x;
    if (row + i < a.rows && col + c < a.cols) below[i][c] = a.data[(row + i) * a.stride + col + c];
    if (col + i < a.rows && row + c < a.cols) above[i][c] = a.data[(col + i) * a.stride + row + c];
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.y); i < edge; i += static_cast<int>(blockDim.y)) {
    const int c = static_cast<int>(threadIdx.x);
    if (row + i < a.rows && col + c < a.cols) a.data[(row + i) * a.stride + col + c] = above[c][i];
    if (col + i < a.rows && row + c < a.cols) a.data[(col + i) * a.stride + row + c] = below[c][i];
  }
}

/// Between any two memories.
template <class From, class To>
void copy_same(CudaBackend& backend, const From& from, const To& to) {
  constexpr std::int64_t size = sizeof(*from.data);
  backend.transfer(from.data, from.stride * size, to.data, to.stride * size, to.cols * size, to.rows);
}

template <class From, class To>
void copy_other(CudaBackend& backend, In<From> from, Out<To> to) {
  if (to.rows == 0 || to.cols == 0) return;
  convert_kernel<<<rows_grid(to.rows, to.cols), threads, 0, backend.stream()>>>(from, to);
  check_launch("a conversion");
}

template <class T>
void copy_listed(CudaBackend& backend, In<T> from, Indices from_rows, Out<T> to, Indices to_rows) {
  const auto count = static_cast<std::int64_t>(std::max(from_rows.size(), to_rows.size()));
  if (count == 0 || to.cols == 0) return;
  const Array<std::int32_t> sources = backend.upload(from_rows);
  const Array<std::int32_t> targets = backend.upload(to_rows);
  copy_rows_kernel<<<rows_grid(count, to.cols), threads, 0, backend.stream()>>>(from, sources.data(), to,
                                                                                targets.data(), count);
  check_launch("a copy of rows");
}

template <class T>
void add_listed(CudaBackend& backend, Numbers factors, In<T> x, Out<T> y, Indices rows) {
  if (x.rows == 0 || x.cols == 0) return;
  const Array<double> scales = backend.upload(factors);
  const Array<std::int32_t> list = backend.upload(rows);
  add_rows_kernel<<<rows_grid(x.rows, x.cols), threads, 0, backend.stream()>>>(scales.data(), x, y,
                                                                               list.data());
  check_launch("adding rows");
}

template <class T>
void dots(CudaBackend& backend, In<T> x, In<T> y, std::span<double> out) {
  if (x.rows == 0) return;
  Array<double> sums(backend, x.rows);
  if (x.cols <= short_row) {
    short_dots_kernel<<<grid(x.rows * 32, threads), threads, 0, backend.stream()>>>(x, y, sums.data());
  } else {
    const std::int64_t chunks = (x.cols + dot_chunk - 1) / dot_chunk;
    const Array<double> partial(backend, chunks * x.rows);
    const dim3 blocks{static_cast<unsigned>(chunks),
                      static_cast<unsigned>(std::min<std::int64_t>(x.rows, most_y)), 1};
    chunk_dots_kernel<<<blocks, threads, 0, backend.stream()>>>(x, y, partial.data());
    sum_partials_kernel<<<grid(x.rows * 32, threads), threads, 0, backend.stream()>>>(partial.data(), chunks,
                                                                                      x.rows, sums.data());
  }
  check_launch("dot products");
  backend.download(sums, out.first(x.rows));
}

template <class T>
void get(CudaBackend& backend, In<T> x, Indices rows, Indices cols, std::span<double> out) {
  const auto count = static_cast<std::int64_t>(cols.size());
  if (count == 0) return;
  const Array<std::int32_t> row_list = backend.upload(rows);
  const Array<std::int32_t> col_list = backend.upload(cols);
  const Array<double> values(backend, count);
  get_kernel<<<grid(count, threads), threads, 0, backend.stream()>>>(x, row_list.data(), col_list.data(),
                                                                     count, values.data());
  check_launch("reading entries");
  backend.download(values, out.first(count));
}

template <class T>
void set(CudaBackend& backend, Out<T> x, Indices cols, Numbers values) {
  const auto count = static_cast<std::int64_t>(cols.size());
  if (count == 0) return;
  const Array<std::int32_t> list = backend.upload(cols);
  const Array<double> numbers = backend.upload(values);
  set_kernel<<<grid(count, threads), threads, 0, backend.stream()>>>(x, list.data(), numbers.data(), count);
  check_launch("writing entries");
}

}  // namespace
}  // namespace cuda

void CudaBackend::copy(In<float> from, Out<float> to) { cuda::copy_same(*this, from, to); }
void CudaBackend::copy(In<double> from, Out<double> to) { cuda::copy_same(*this, from, to); }
void CudaBackend::copy(In<float> from, Out<double> to) { cuda::copy_other(*this, from, to); }
void CudaBackend::copy(In<double> from, Out<float> to) { cuda::copy_other(*this, from, to); }

void CudaBackend::upload(MatrixView<const float> from, Out<float> to) { cuda::copy_same(*this, from, to); }
void CudaBackend::upload(MatrixView<const double> from, Out<double> to) { cuda::copy_same(*this, from, to); }
void CudaBackend::download(In<float> from, MatrixView<float> to) { cuda::copy_same(*this, from, to); }
void CudaBackend::download(In<double> from, MatrixView<double> to) { cuda::copy_same(*this, from, to); }

void CudaBackend::add_rows(Numbers factors, In<float> x, Out<float> y, Indices rows) {
  cuda::add_listed(*this, factors, x, y, rows);
}
void CudaBackend::add_rows(Numbers factors, In<double> x, Out<double> y, Indices rows) {
  cuda::add_listed(*this, factors, x, y, rows);
}

void CudaBackend::row_dots(In<float> x, In<float> y, std::span<double> out) { cuda::dots(*this, x, y, out); }
void CudaBackend::row_dots(In<double> x, In<double> y, std::span<double> out) {
  cuda::dots(*this, x, y, out);
}

void CudaBackend::copy_rows(In<float> from, Indices from_rows, Out<float> to, Indices to_rows) {
  cuda::copy_listed(*this, from, from_rows, to, to_rows);
}
void CudaBackend::copy_rows(In<double> from, Indices from_rows, Out<double> to, Indices to_rows) {
  cuda::copy_listed(*this, from, from_rows, to, to_rows);
}

void CudaBackend::get_entries(In<float> x, Indices rows, Indices cols, std::span<double> out) {
  cuda::get(*this, x, rows, cols, out);
}
void CudaBackend::get_entries(In<double> x, Indices rows, Indices cols, std::span<double> out) {
  cuda::get(*this, x, rows, cols, out);
}
void CudaBackend::set_entries(Out<float> x, Indices cols, Numbers values) {
  cuda::set(*this, x, cols, values);
}
void CudaBackend::set_entries(Out<double> x, Indices cols, Numbers values) {
  cuda::set(*this, x, cols, values);
}

void CudaBackend::transpose_in_place(Out<float> a) {
  if (a.rows == 0) return;
  const auto tiles = static_cast<unsigned>((a.rows + cuda::edge - 1) / cuda::edge);
  cuda::transpose_kernel<<<dim3{tiles, tiles, 1}, dim3{cuda::edge, 8, 1}, 0, stream()>>>(a);
  cuda::check_launch("a transposition");
}

}  // namespace poise
