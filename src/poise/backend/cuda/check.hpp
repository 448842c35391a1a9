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

}  // namespace poise::cuda
