#pragma once

#include <cstdint>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/model/closed_form.hpp"
#include "poise/model/spectrum/spectrum.hpp"
#include "poise/solver/kronecker.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// The preconditioner's left part (KroneckerPreconditioner), made once a fit. By counted operations, the
/// condition and the memory limit,
///
///     top eigenpairs       where they are fewer operations, although U takes more iterations with them (not
///                          data/weight decay; those of `spectrum` where a = 1): 4 n k bytes
///     all eigenpairs       where no single inverse is exact (weight decay; dropout with b; data/weight decay
///                          with a) and n <= 2048, or where A is singular and n <= 4096: 9 n^3 operations and
///                          24 n^2 bytes
///     A^-1                 else: n^3 operations, 4 n^2 bytes, 8 n^2 where its condition is beyond 1e5;
///                          A is shifted by the cut-off where it is singular
///     top eigenpairs       where the memory limit allows neither (not data/weight decay)
///
/// Error{resources} if none of these fits `bytes`.
LeftFactor make_left_factor(CsrView X, const Weights& W, Regularizer regularizer, double lambda,
                            const Spectrum& spectrum, std::uint64_t bytes, Backend& backend,
                            const Execution& execution);

/// The left factor of the last problem, for others that differ from it in C alone. The backend must outlive
/// it.
class LeftFactorCache {
 public:
  /// As make_left_factor; the result is valid until the next call.
  const LeftFactor& get(CsrView X, const Weights& W, Regularizer regularizer, double lambda,
                        const Spectrum& spectrum, std::uint64_t bytes, Backend& backend,
                        const Execution& execution);

 private:
  struct Key {
    std::uint64_t X = 0;  ///< its fingerprint
    std::vector<float> a;
    std::vector<float> b;
    Regularizer regularizer = {};
    bool top_pairs = false;
    double lambda = 0;
    std::int64_t matrices = 0;  ///< of items x items in float32 that fit
    std::int64_t pairs = 0;
    bool operator==(const Key&) const = default;
  };
  Key key_;
  LeftFactor left_;
};

/// The bytes of the route that is tried first, above `bytes` if nothing fits; the condition, computed later,
/// may need more. And its operations for each column of U and iteration.
struct LeftFactorCost {
  std::uint64_t bytes = 0;
  double operations = 0;
};

/// With `pairs` known eigenpairs.
LeftFactorCost left_factor_cost(CsrView X, const Weights& W, Regularizer regularizer, double lambda,
                                std::int64_t pairs, std::uint64_t bytes);

/// From the available pairs, with s = 0 for the others: enough to bound the rounding of a closed form.
LeftFactor left_factor_of(const Spectrum& spectrum, Backend& backend);

}  // namespace poise
