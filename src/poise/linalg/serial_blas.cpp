#include "poise/linalg/serial_blas.hpp"

#include <cblas.h>
#include <omp.h>

namespace poise {

// OpenBLAS' OpenMP variant asks omp_get_max_threads() in every call outside an active parallel region (a
// region of one thread is not active); its pthread variant knows only its own setting.
SerialBlas::SerialBlas() : openmp_threads_(omp_get_max_threads()), blas_threads_(openblas_get_num_threads()) {
  omp_set_num_threads(1);
  if (openblas_get_parallel() == OPENBLAS_THREAD) openblas_set_num_threads(1);
}

SerialBlas::~SerialBlas() {
  omp_set_num_threads(openmp_threads_);
  if (openblas_get_parallel() == OPENBLAS_THREAD) openblas_set_num_threads(blas_threads_);
}

}  // namespace poise
