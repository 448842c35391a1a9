#pragma once

#include <memory>
#include <vector>

#include "poise/linalg/csr.hpp"

namespace poise {

/// The weights of a least-squares problem over users x items: a rank-one background and arbitrary weights on
/// a sparse support (normally that of X), so that nothing dense is held:
///
///     W_ui = a_u b_i (1 + C_ui),   a, b > 0,   1 + C > 0,   C = 0 outside the support.
///
/// `support` refers to memory that must outlive it.
struct Weights {
  std::vector<float> a;                         ///< per user; empty: all 1
  std::vector<float> b;                         ///< per item; empty: all 1
  CsrView support;                              ///< where C may differ from 0; its values are not read
  std::vector<float> c;                         ///< C_ui for each stored entry of `support`; empty: C = 0
  double lowest = 1;                            ///< min(1, min(1 + C))
  double highest = 1;                           ///< max(1, max(1 + C))
  double observed = 0;                          ///< the sum of W over the stored entries of X, in float64
  std::shared_ptr<const Csr> own_support = {};  ///< what `support` refers to, where no matrix of data has it

  [[nodiscard]] double a_of(std::int64_t user) const { return a.empty() ? 1.0 : a[user]; }
  [[nodiscard]] double b_of(std::int64_t item) const { return b.empty() ? 1.0 : b[item]; }
  /// Whether W = 1 everywhere.
  [[nodiscard]] bool uniform() const { return a.empty() && b.empty() && c.empty(); }
};

}  // namespace poise
