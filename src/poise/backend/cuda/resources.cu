#include <algorithm>
#include <cstring>
#include <vector>

#include "poise/backend/cuda/resources.hpp"
#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/base/parallel.hpp"

namespace poise::cuda {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // the next call would report it again
  fail(ErrorKind::resources, "the GPU failed at {}: {}; use {} cpu if this happens again", what,
       cudaGetErrorString(status), "device"_p);
}

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(ErrorKind::resources, "cuBLAS failed at {}: {}; use {} cpu if this happens again", what,
       cublasGetStatusString(status), "device"_p);
}

void check(cusolverStatus_t status, const char* what) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  fail(ErrorKind::resources, "cuSOLVER failed at {} (status {}); use {} cpu if this happens again", what,
       static_cast<int>(status), "device"_p);
}

namespace {

/// Copies above this go through page-locked memory in pieces, which is several times as fast.
constexpr std::int64_t direct_bytes = std::int64_t{1} << 20;
constexpr std::int64_t bounce_bytes = std::int64_t{1} << 25;

/// A part of a copy of rows.
struct Piece {
  std::int64_t row, first, rows, width;
};

/// Pieces of at most half of the page-locked memory: whole rows, or a part of one.
std::vector<Piece> pieces_of(std::int64_t width, std::int64_t rows) {
  const std::int64_t width_per_piece = std::min(width, bounce_bytes);
  const std::int64_t rows_per_piece = bounce_bytes / width_per_piece;
  std::vector<Piece> pieces;
  for (std::int64_t row = 0; row < rows; row += rows_per_piece) {
    for (std::int64_t first = 0; first < width; first += width_per_piece) {
      pieces.push_back(
          {row, first, std::min(rows_per_piece, rows - row), std::min(width_per_piece, width - first)});
    }
  }
  return pieces;
}

/// Rows, or parts of a long one, each by one thread.
void copy_by_threads(const char* from, std::int64_t from_stride, char* to, std::int64_t to_stride,
                     const Piece& piece, int threads) {
  constexpr std::int64_t part = std::int64_t{1} << 20;
  const Tiling parts{piece.width, part};
  const Tiling groups{piece.rows, std::max<std::int64_t>(1, part / piece.width)};
  for_each_tile(groups.tiles() * parts.tiles(), threads, [&](std::int64_t tile) {
    const std::int64_t first = parts.first(tile % parts.tiles());
    const std::int64_t bytes = parts.last(tile % parts.tiles()) - first;
    const std::int64_t group = tile / parts.tiles();
    for (std::int64_t r = groups.first(group); r < groups.last(group); ++r)
      std::memcpy(to + r * to_stride + first, from + r * from_stride + first, bytes);
  });
}

}  // namespace

Resources::Resources(int threads) : threads_(threads) {
  check(cudaSetDevice(0), "choosing the GPU");
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, 0), "reading its size");
  int shared = 0;
  check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), "reading its size");
  shared_bytes_ = shared;
  int reads_host = 0;
  check(cudaDeviceGetAttribute(&reads_host, cudaDevAttrPageableMemoryAccess, 0), "reading what it can");
  reads_host_ = reads_host != 0;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "reading its size");
  total_bytes_ = total_bytes;
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, 0), "finding its memory pool");
  std::uint64_t keep = ~std::uint64_t{0};
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "setting up its memory pool");
  check(cublasCreate(&blas_), "starting");
  check(cublasSetStream(blas_, stream_), "starting");
  for (cudaEvent_t& event : bounced_)
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
}

Resources::~Resources() {
  // Failures cannot be handled here.
  static_cast<void>(cudaStreamSynchronize(stream_));
  for (cudaEvent_t event : bounced_) static_cast<void>(cudaEventDestroy(event));
  if (bounce_ != nullptr) static_cast<void>(cudaFreeHost(bounce_));
  if (forked_ != nullptr) static_cast<void>(cudaEventDestroy(forked_));
  for (cudaEvent_t event : joined_) {
    if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
  }
  for (cudaStream_t stream : side_) {
    if (stream != nullptr) static_cast<void>(cudaStreamDestroy(stream));
  }
  if (solver_ != nullptr) static_cast<void>(cusolverDnDestroy(solver_));
  static_cast<void>(cublasDestroy(blas_));
  static_cast<void>(cudaStreamDestroy(stream_));
}

cusolverDnHandle_t Resources::solver() {
  if (solver_ == nullptr) {
    check(cusolverDnCreate(&solver_), "starting");
    check(cusolverDnSetStream(solver_, stream_), "starting");
  }
  return solver_;
}

void Resources::get_ready(CudaReady ready) {
  if (ready != CudaReady::as_needed) static_cast<void>(bounce());
  if (ready == CudaReady::to_train) static_cast<void>(solver());
}

char* Resources::bounce() {
  if (bounce_ == nullptr)
    check(cudaMallocHost(reinterpret_cast<void**>(&bounce_), 2 * bounce_bytes), "page-locking");
  return bounce_;
}

void Resources::fork() {
  if (forked_ == nullptr) {
    check(cudaEventCreateWithFlags(&forked_, cudaEventDisableTiming), "making an event");
    for (cudaEvent_t& event : joined_)
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
    for (cudaStream_t& stream : side_)
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  }
  check(cudaEventRecord(forked_, stream_), "a computation");
  for (cudaStream_t stream : side_) check(cudaStreamWaitEvent(stream, forked_, 0), "a computation");
}

void Resources::join() {
  for (int k = 0; k < side_streams - 1; ++k) {
    check(cudaEventRecord(joined_[k], side_[k]), "a computation");
    check(cudaStreamWaitEvent(stream_, joined_[k], 0), "a computation");
  }
}

void Resources::synchronize() { check(cudaStreamSynchronize(stream_), "a computation"); }

void* Resources::allocate(std::uint64_t bytes) {
  void* memory = nullptr;
  cudaError_t status = cudaMallocAsync(&memory, bytes, stream_);
  if (status == cudaErrorMemoryAllocation) {
    // The pool may hold free memory in pieces that are too small.
    static_cast<void>(cudaGetLastError());
    synchronize();
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, 0), "finding its memory pool");
    check(cudaMemPoolTrimTo(pool, 0), "trimming its memory pool");
    status = cudaMallocAsync(&memory, bytes, stream_);
  }
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free memory");
    const auto [needed, there] = compared_bytes(static_cast<double>(bytes), static_cast<double>(free_bytes));
    fail(ErrorKind::resources,
         "the GPU's memory is too small: {} more are needed and {} of {:.1f} GB are free; use {} cpu, "
         "fewer items or a lower rank",
         needed, there, static_cast<double>(total_bytes) * 1e-9, "device"_p);
  }
  check(status, "asking for memory");
  return memory;
}

void Resources::release(void* memory) noexcept { static_cast<void>(cudaFreeAsync(memory, stream_)); }

bool Resources::owns(const void* memory) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "looking at a pointer");
  return attributes.type == cudaMemoryTypeDevice;
}

void Resources::transfer(const void* from, std::int64_t from_stride, void* to, std::int64_t to_stride,
                         std::int64_t width, std::int64_t rows) {
  if (width == 0 || rows == 0) return;
  if (rows == 1) from_stride = to_stride = width;
  const bool from_gpu = owns(from);
  const bool to_gpu = owns(to);
  const auto move = [&](const void* source, std::int64_t source_stride, void* target,
                        std::int64_t target_stride, std::int64_t bytes, std::int64_t count) {
    if (count == 1 || (source_stride == bytes && target_stride == bytes)) {
      check(cudaMemcpyAsync(target, source, bytes * count, cudaMemcpyDefault, stream_), "a copy");
    } else {
      check(cudaMemcpy2DAsync(target, target_stride, source, source_stride, bytes, count, cudaMemcpyDefault,
                              stream_),
            "a copy");
    }
  };
  if (from_gpu && to_gpu) return move(from, from_stride, to, to_stride, width, rows);
  if (!from_gpu && !to_gpu) {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::memcpy(static_cast<char*>(to) + r * to_stride, static_cast<const char*>(from) + r * from_stride,
                  width);
    }
    return;
  }
  if (width * rows <= direct_bytes) {
    move(from, from_stride, to, to_stride, width, rows);
    // A GPU that reads ordinary memory directly may still be reading it.
    if (from_gpu || reads_host_) synchronize();
    return;
  }
  char* const staging = bounce();
  const std::vector<Piece> pieces = pieces_of(width, rows);
  const char* const source = static_cast<const char*>(from);
  char* const target = static_cast<char*>(to);
  const auto half = [&](std::size_t k) { return staging + static_cast<std::int64_t>(k % 2) * bounce_bytes; };
  const auto host_copy = [&](const char* source_at, std::int64_t source_stride, char* target_at,
                             std::int64_t target_stride, const Piece& piece) {
    copy_by_threads(source_at, source_stride, target_at, target_stride, piece, threads_);
  };
  if (to_gpu) {
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      const Piece& piece = pieces[k];
      check(cudaEventSynchronize(bounced_[k % 2]), "a copy");
      host_copy(source + piece.row * from_stride + piece.first, from_stride, half(k), piece.width, piece);
      move(half(k), piece.width, target + piece.row * to_stride + piece.first, to_stride, piece.width,
           piece.rows);
      check(cudaEventRecord(bounced_[k % 2], stream_), "a copy");
    }
    return;
  }
  for (std::size_t k = 0; k < pieces.size() + 1; ++k) {
    if (k < pieces.size()) {
      const Piece& piece = pieces[k];
      move(source + piece.row * from_stride + piece.first, from_stride, half(k), piece.width, piece.width,
           piece.rows);
      check(cudaEventRecord(bounced_[k % 2], stream_), "a copy");
    }
    if (k == 0) continue;
    const Piece& piece = pieces[k - 1];
    check(cudaEventSynchronize(bounced_[(k - 1) % 2]), "a copy");
    host_copy(half(k - 1), piece.width, target + piece.row * to_stride + piece.first, to_stride, piece);
  }
}

}  // namespace poise::cuda
