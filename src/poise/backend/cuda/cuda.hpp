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

/// CUDA in this build and on this machine.
struct CudaInfo {
  bool built = false;
  std::vector<CudaDevice> devices;
  std::string problem;  ///< why no GPU can be used: one sentence, or empty
};
CudaInfo cuda_info();

/// What a backend prepares when it is made instead of at first use: page-locked memory for copies, and for
/// training also cuSOLVER.
enum class CudaReady { as_needed, to_score, to_train };

/// The backend on the first GPU. Error{resources} with the reason if there is none.
std::unique_ptr<Backend> make_cuda_backend(int threads, Observer* observer,
                                           CudaReady ready = CudaReady::as_needed);

}  // namespace poise
