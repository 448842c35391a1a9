#include <algorithm>
#include <cstring>

#include "poise/backend/cuda/cuda.hpp"
#include "poise/backend/cuda/cuda_backend.hpp"
#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/base/parallel.hpp"

namespace poise {

namespace cuda {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // it would be told again by the next call
  fail(ErrorKind::resources, "the GPU failed at {}: {}; use {} cpu if this stays so", what,
       cudaGetErrorString(status), "device"_p);
}

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(ErrorKind::resources, "cuBLAS failed at {}: {}; use {} cpu if this stays so", what,
       cublasGetStatusString(status), "device"_p);
}

void check(cusolverStatus_t status, const char* what) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  fail(ErrorKind::resources, "cuSOLVER failed at {} (status {}); use {} cpu if this stays so", what,
       static_cast<int>(status), "device"_p);
}

}  // namespace cuda

using cuda::check;

namespace {

/// Copies above this go through page-locked memory in pieces, which is several times as fast.
constexpr std::int64_t direct_bytes = std::int64_t{1} << 20;
constexpr std::int64_t bounce_bytes = std::int64_t{1} << 25;

}  // namespace

namespace {

/// Stands for all kernels: whether the build has code for a GPU.
__global__ void probe_kernel() {}

/// Why the first GPU cannot be used, or nothing.
std::string problem_of(int count, cudaError_t status) {
  if (status == cudaSuccess && count > 0) {
    cudaFuncAttributes attributes{};
    status = cudaFuncGetAttributes(&attributes, probe_kernel);
    if (status == cudaSuccess) return {};
    static_cast<void>(cudaGetLastError());
    int major = 0;
    int minor = 0;
    static_cast<void>(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    static_cast<void>(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    return fmt::format(
        "this build has no code for the GPU, whose compute capability is {}.{} ({}): build it with "
        "-DPOISE_CUDA_ARCHITECTURES={}{}",
        major, minor, cudaGetErrorString(status), major, minor);
  }
  static_cast<void>(cudaGetLastError());
  return fmt::format("there is no GPU that CUDA can use ({})",
                     status != cudaSuccess ? cudaGetErrorString(status) : "none found");
}

}  // namespace

CudaInfo cuda_info() {
  CudaInfo info{.built = true, .devices = {}, .problem = {}};
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  info.problem = problem_of(count, status);
  if (!info.problem.empty()) return info;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) break;
    CudaDevice found{.name = properties.name,
                     .memory_bytes = properties.totalGlobalMem,
                     .major = properties.major,
                     .minor = properties.minor};
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    if (device == 0 && cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) break;
    found.free_bytes = free_bytes;
    info.devices.push_back(found);
  }
  if (info.devices.empty()) {
    info.problem = fmt::format("the GPU cannot be used ({})", cudaGetErrorString(cudaGetLastError()));
  }
  return info;
}

std::unique_ptr<Backend> make_cuda_backend(int threads, Observer* observer, CudaReady ready) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  const std::string problem = problem_of(count, status);
  if (!problem.empty())
    fail(ErrorKind::resources, "{} cuda: {}; or use {} cpu", "device"_p, problem, "device"_p);
  auto backend = std::make_unique<CudaBackend>(threads, observer);
  backend->get_ready(ready);
  return backend;
}

CudaBackend::CudaBackend(int threads, Observer* observer) : threads_(threads), observer_(observer) {
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
  memory_bytes_ = total_bytes;
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

CudaBackend::~CudaBackend() {
  // Nothing to be done about failures here.
  static_cast<void>(cudaStreamSynchronize(stream_));
  pinned_.clear();
  pinned_spans_.clear();
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

cusolverDnHandle_t CudaBackend::solver() {
  if (solver_ == nullptr) {
    check(cusolverDnCreate(&solver_), "starting");
    check(cusolverDnSetStream(solver_, stream_), "starting");
  }
  return solver_;
}

void CudaBackend::get_ready(CudaReady ready) {
  if (ready != CudaReady::as_needed) static_cast<void>(bounce());
  if (ready == CudaReady::to_train) static_cast<void>(solver());
}

char* CudaBackend::bounce() {
  if (bounce_ == nullptr)
    check(cudaMallocHost(reinterpret_cast<void**>(&bounce_), 2 * bounce_bytes), "page-locking");
  return bounce_;
}

void CudaBackend::fork() {
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

void CudaBackend::join() {
  for (int k = 0; k < side_streams - 1; ++k) {
    check(cudaEventRecord(joined_[k], side_[k]), "a computation");
    check(cudaStreamWaitEvent(stream_, joined_[k], 0), "a computation");
  }
}

void CudaBackend::synchronize() { check(cudaStreamSynchronize(stream_), "a computation"); }

void* CudaBackend::allocate(std::uint64_t bytes) {
  void* memory = nullptr;
  cudaError_t status = cudaMallocAsync(&memory, bytes, stream_);
  if (status == cudaErrorMemoryAllocation) {
    // What the pool holds in pieces that are too small may make room.
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
         "the GPU's memory is too small: {} more are needed and {} of {:.1f} GB are free; use {} cpu, fewer "
         "items or a lower rank",
         needed, there, static_cast<double>(total_bytes) * 1e-9, "device"_p);
  }
  check(status, "asking for memory");
  return memory;
}

void CudaBackend::release(void* memory) noexcept { static_cast<void>(cudaFreeAsync(memory, stream_)); }

bool CudaBackend::owns(const void* memory) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "looking at a pointer");
  return attributes.type == cudaMemoryTypeDevice;
}

void CudaBackend::transfer(const void* from, std::int64_t from_stride, void* to, std::int64_t to_stride,
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
    // A GPU that reads ordinary memory by itself may not be done with it yet.
    if (from_gpu || reads_host_) synchronize();
    return;
  }
  // Pieces of at most half of the page-locked memory: whole rows, or a part of one.
  char* const staging = bounce();
  const std::int64_t width_per_piece = std::min(width, bounce_bytes);
  const std::int64_t rows_per_piece = bounce_bytes / width_per_piece;
  struct Piece {
    std::int64_t row, first, rows, width;
  };
  std::vector<Piece> pieces;
  for (std::int64_t row = 0; row < rows; row += rows_per_piece) {
    for (std::int64_t first = 0; first < width; first += width_per_piece) {
      pieces.push_back(
          {row, first, std::min(rows_per_piece, rows - row), std::min(width_per_piece, width - first)});
    }
  }
  const char* const source = static_cast<const char*>(from);
  char* const target = static_cast<char*>(to);
  const auto half = [&](std::size_t k) { return staging + static_cast<std::int64_t>(k % 2) * bounce_bytes; };
  // Rows, or parts of a long one, by several threads.
  const auto host_copy = [&](const char* source_at, std::int64_t source_stride, char* target_at,
                             std::int64_t target_stride, const Piece& piece) {
    constexpr std::int64_t part = std::int64_t{1} << 20;
    const Tiling parts{piece.width, part};
    const Tiling groups{piece.rows, std::max<std::int64_t>(1, part / piece.width)};
    for_each_tile(groups.tiles() * parts.tiles(), threads_, [&](std::int64_t tile) {
      const std::int64_t first = parts.first(tile % parts.tiles());
      const std::int64_t bytes = parts.last(tile % parts.tiles()) - first;
      const std::int64_t group = tile / parts.tiles();
      for (std::int64_t r = groups.first(group); r < groups.last(group); ++r) {
        std::memcpy(target_at + r * target_stride + first, source_at + r * source_stride + first, bytes);
      }
    });
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

Pin CudaBackend::pin(CsrView x) {
  if (x.rows == 0) return {};
  const auto copy = sparse(x);
  pinned_.push_front({x, copy});
  const auto place = pinned_.begin();
  return Pin([this, place] { pinned_.erase(place); });
}

Pin CudaBackend::pin(std::span<const float> x) {
  if (x.empty()) return {};
  pinned_spans_.push_front({x, upload(x)});
  const auto place = pinned_spans_.begin();
  return Pin([this, place] { pinned_spans_.erase(place); });
}

const float* pinned_span(CudaBackend& backend, std::span<const float> span) {
  for (const auto& pinned : backend.pinned_spans_) {
    if (span.data() >= pinned.host.data() &&
        span.data() + span.size() <= pinned.host.data() + pinned.host.size()) {
      return pinned.copy.data() + (span.data() - pinned.host.data());
    }
  }
  return nullptr;
}

std::shared_ptr<const cuda::SparseCopy> CudaBackend::sparse(CsrView x) {
  auto copy = std::make_shared<cuda::SparseCopy>();
  copy->view.rows = x.rows;
  copy->view.cols = x.cols;
  if (x.rows == 0) return copy;
  for (const PinnedSparse& pinned : pinned_) {
    const CsrView& host = pinned.host;
    const bool same_entries = host.indices.data() == x.indices.data() &&
                              (x.values.empty() || host.values.data() == x.values.data());
    const auto first = x.offsets.data() - host.offsets.data();
    if (!same_entries || first < 0 || first + x.rows > host.rows) continue;
    const bool values_fit = x.values.empty() == host.values.empty();
    if (first == 0 && x.rows == host.rows && values_fit) return pinned.copy;
    // A part of it, or the support alone; it shares what the whole one owns.
    copy->view = pinned.copy->view;
    copy->view.rows = x.rows;
    copy->view.offsets += first;
    if (x.values.empty()) copy->view.values = nullptr;
    if (first != 0 || x.rows != host.rows) {
      copy->view.pieces = 0;
      copy->view.slots = 0;
      copy->view.cut_rows = 0;
      copy->view.piece_rows = nullptr;
    }
    return {copy.get(), [whole = pinned.copy, copy](const cuda::SparseCopy*) {}};
  }
  const std::int64_t begin = x.offsets.front();
  const std::int64_t entries = x.offsets[x.rows] - begin;
  copy->offsets = upload(x.offsets.first(x.rows + 1));
  copy->indices = upload(x.indices.subspan(begin, entries));
  copy->view.offsets = copy->offsets.data();
  copy->view.indices = copy->indices.data() - begin;
  if (!x.values.empty()) {
    copy->values = upload(x.values.subspan(begin, entries));
    copy->view.values = copy->values.data() - begin;
  }
  std::vector<std::int32_t> rows;
  std::vector<std::int64_t> begins;
  std::vector<std::int32_t> slots;
  std::vector<std::int32_t> cut_row;
  std::vector<std::int32_t> cut_first;
  std::int32_t slot = 0;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const bool cut = x.row_size(r) > cuda::piece_entries;
    if (cut) {
      cut_row.push_back(static_cast<std::int32_t>(r));
      cut_first.push_back(slot);
    }
    std::int64_t at = x.offsets[r];
    do {
      rows.push_back(static_cast<std::int32_t>(r));
      begins.push_back(at);
      slots.push_back(cut ? slot++ : -1);
      at += cuda::piece_entries;
    } while (at < x.offsets[r + 1]);
  }
  cut_first.push_back(slot);
  copy->piece_rows = upload(std::span<const std::int32_t>(rows));
  copy->piece_begins = upload(std::span<const std::int64_t>(begins));
  copy->piece_slots = upload(std::span<const std::int32_t>(slots));
  copy->cut_row = upload(std::span<const std::int32_t>(cut_row));
  copy->cut_first_slot = upload(std::span<const std::int32_t>(cut_first));
  copy->view.pieces = static_cast<std::int64_t>(rows.size());
  copy->view.piece_rows = copy->piece_rows.data();
  copy->view.piece_begins = copy->piece_begins.data();
  copy->view.piece_slots = copy->piece_slots.data();
  copy->view.slots = slot;
  copy->view.cut_rows = static_cast<std::int64_t>(cut_row.size());
  copy->view.cut_row = copy->cut_row.data();
  copy->view.cut_first_slot = copy->cut_first_slot.data();
  return copy;
}

}  // namespace poise
