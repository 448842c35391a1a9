#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "poise/backend/backend.hpp"

namespace poise {

/// A GPU as the driver shows it.
struct CudaDevice {
  std::string name;
  std::uint64_t memory_bytes = 0;
  std::uint64_t free_bytes = 0;
  int major = 0;  ///< compute capability
  int minor = 0;
};

/// What this build and this machine have of CUDA.
struct CudaInfo {
  bool built = false;
  std::vector<CudaDevice> devices;
  std::string problem;  ///< why there is none to use: one sentence, or empty
};
CudaInfo cuda_info();

/// What a backend makes at once, rather than when it is first asked for: page-locked memory for copies, and
/// for training cuSOLVER besides.
enum class CudaReady { as_needed, to_score, to_train };

/// The backend on the first GPU. Error{resources}, saying why, where there is none.
std::unique_ptr<Backend> make_cuda_backend(int threads, Observer* observer,
                                           CudaReady ready = CudaReady::as_needed);

}  // namespace poise
