#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

namespace poise::cuda {

/// Throw Error{resources} with CUDA's message unless the status is success.
void check(cudaError_t status, const char* what);
void check(cublasStatus_t status, const char* what);
void check(cusolverStatus_t status, const char* what);

/// To be called after a kernel was started.
inline void check_launch(const char* what) { check(cudaGetLastError(), what); }

/// RAII handle: the parameters of cuSOLVER's 64-bit calls.
struct SolverParameters {
  cusolverDnParams_t value = nullptr;

  SolverParameters() { check(cusolverDnCreateParams(&value), "starting cuSOLVER"); }
  SolverParameters(const SolverParameters&) = delete;
  SolverParameters& operator=(const SolverParameters&) = delete;
  ~SolverParameters() { static_cast<void>(cusolverDnDestroyParams(value)); }
};

}  // namespace poise::cuda
