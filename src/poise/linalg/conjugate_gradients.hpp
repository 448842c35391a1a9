#pragma once

#ifdef __CUDACC__
#define POISE_ANYWHERE __host__ __device__ __forceinline__
#else
#define POISE_ANYWHERE [[gnu::always_inline]] inline
#endif

namespace poise {

/// The scalars of preconditioned conjugate gradients on H x = y (the paper's algorithm 1), with z = M^-1 r:
///
///     beta = r'z / (r'z before),   p <- z + beta p,
///     alpha = r'z / p'Hp,          x <- x + alpha p,   r <- r - alpha Hp.
///
/// The caller holds the vectors: blocks over a backend (solver/pcg.hpp), one row in the registers of a
/// processor (backend/cpu/row_kernels.hpp) or of a thread block (backend/cuda/row_state.cuh).
struct ConjugateGradients {
  double rz = 0;         ///< r'z
  double alpha = 0;      ///< the last step's length
  double explained = 0;  ///< 2 y'x - x'Hx, added to the caller's initial value
  int steps = 0;

  /// Returns beta, which is 0 for the first direction.
  POISE_ANYWHERE double turn(double rz_now) {
    const double before = rz;
    rz = rz_now;
    return steps == 0 ? 0.0 : rz / before;
  }
  /// Sets alpha. Returns false and changes nothing if H is not positive along p.
  POISE_ANYWHERE bool step(double pHp) {
    if (!(pHp > 0)) return false;
    alpha = rz / pHp;
    explained += alpha * rz;
    ++steps;
    return true;
  }
};

}  // namespace poise
