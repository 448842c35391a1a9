#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// The largest eigenpairs of G = X' diag(a) X: G Q = Q diag(s), s descending, Q (n x k) with orthonormal
/// columns.
struct Spectrum {
  std::vector<double> s;
  Matrix<float> Q;

  [[nodiscard]] std::int64_t pairs() const { return static_cast<std::int64_t>(s.size()); }
};

/// The top `count` pairs (all n where count >= n); `row_weights` is a, or empty for a = 1. The same bytes
/// for any thread count.
Spectrum top_spectrum(CsrView X, std::span<const float> row_weights, std::int64_t count, Backend& backend,
                      const Execution& execution);

/// Its cost: operations of a matrix product, and bytes besides X.
struct SpectrumCost {
  double operations = 0;
  double bytes = 0;
};
SpectrumCost spectrum_cost(CsrView X, std::int64_t count);

}  // namespace poise
