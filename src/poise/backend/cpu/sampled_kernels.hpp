#pragma once

#include <cstdint>
#include <vector>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// Floats handled side by side; the columns of the packed factors are padded to a multiple of it with zeros.
constexpr std::int64_t sampled_lane = 16;

/// Memory of one tile: a row of T, padded, and the sums of a row of S.
struct SampledScratch {
  explicit SampledScratch(std::int64_t padded) : t(padded), run(padded), sums(padded) {}
  std::vector<float> t;
  std::vector<float> run;
  std::vector<double> sums;
};

/// Row u of the sampled primitives of backend.hpp, with V packed. `t` of the scratch holds the row of T.
struct SampledKernels {
  /// out[e] for the entries e of row u.
  void (*dots)(CsrView x, std::int64_t u, MatrixView<const float> v, SampledScratch& scratch, float* out);
  /// sums = sum over the entries of row u of (w_e - c_e (t . v)) v; w or c null: zeros.
  void (*product)(CsrView x, std::int64_t u, const float* w, const float* c, MatrixView<const float> v,
                  SampledScratch& scratch);
};

/// The version for this processor.
SampledKernels sampled_kernels();

}  // namespace poise
