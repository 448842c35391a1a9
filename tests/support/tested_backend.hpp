#pragma once

#include <cstdlib>
#include <memory>
#include <string_view>

#include "poise/backend/backend.hpp"
#include "poise/backend/cuda/cuda.hpp"

namespace poise::testing {

/// Whether tests on a GPU can run: this build has CUDA, and the machine a GPU.
inline bool gpu_is_there() {
  static const bool there = !cuda_info().devices.empty();
  return there;
}

/// What solvers and models are tested on: the processor, or the GPU with POISE_TEST_DEVICE=cuda.
inline BackendKind tested_kind() {
  const char* const device = std::getenv("POISE_TEST_DEVICE");
  return device != nullptr && std::string_view(device) == "cuda" ? BackendKind::cuda : BackendKind::cpu;
}

inline std::unique_ptr<Backend> tested_backend(int threads) { return make_backend(tested_kind(), threads); }

}  // namespace poise::testing
