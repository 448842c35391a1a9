#ifndef POISE_CUDA
#include "poise/backend/cuda/cuda.hpp"
#include "poise/base/error.hpp"

namespace poise {

namespace {
constexpr const char* not_built = "this build of Poise has no CUDA: build it with `make build CUDA=1`";
}  // namespace

CudaInfo cuda_info() { return {.built = false, .devices = {}, .problem = not_built}; }

std::unique_ptr<Backend> make_cuda_backend(int /*threads*/, Observer* /*observer*/, CudaReady /*ready*/) {
  fail(ErrorKind::resources, "{} cuda: {}; or use {} cpu", "device"_p, not_built, "device"_p);
}

}  // namespace poise
#endif
