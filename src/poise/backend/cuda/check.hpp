#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

namespace poise::cuda {

/// Throw Error{resources} with what CUDA says, unless it says that all is well.
void check(cudaError_t status, const char* what);
void check(cublasStatus_t status, const char* what);
void check(cusolverStatus_t status, const char* what);

/// After a kernel was started.
inline void check_launch(const char* what) { check(cudaGetLastError(), what); }

/// What cuSOLVER's 64-bit calls want to be given.
struct SolverParameters {
  cusolverDnParams_t value = nullptr;

  SolverParameters() { check(cusolverDnCreateParams(&value), "starting cuSOLVER"); }
  SolverParameters(const SolverParameters&) = delete;
  SolverParameters& operator=(const SolverParameters&) = delete;
  ~SolverParameters() { static_cast<void>(cusolverDnDestroyParams(value)); }
};

}  // namespace poise::cuda
