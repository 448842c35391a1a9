#include "poise/backend/cuda/cuda.hpp"
#include "poise/backend/cuda/cuda_backend.hpp"
#include "poise/base/error.hpp"

namespace poise {

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
