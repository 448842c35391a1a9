#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// Factors that are 1 everywhere are left out.
inline void leave_out_ones(std::vector<float>& factors) {
  if (std::ranges::all_of(factors, [](float factor) { return factor == 1.0F; })) factors.clear();
}

/// Below this, 1 + C would be mostly rounding.
constexpr double least_weight = 1e-6;

/// C_ui = w / (a_u b_i) - 1 for W_ui = w at entry k of the support, which lies in row u. Error{numerical} if
/// float32 cannot hold it.
inline float correction(const Weights& weights, std::int64_t user, std::int64_t k, double w) {
  const std::int32_t item = weights.support.indices[k];
  const double exact = w / (weights.a_of(user) * weights.b_of(item)) - 1;
  if (!(exact <= std::numeric_limits<float>::max()))
    fail(ErrorKind::numerical,
         "the weight {} of row {}, item {} (both counted from 0) is too large for float32: use smaller "
         "values, {} or {}",
         w, user, item, "alpha"_p, "clip"_p);
  if (!(1 + exact >= least_weight))
    fail(ErrorKind::numerical,
         "the weight {} of row {}, item {} (both counted from 0) is less than {} times the weight {} of "
         "unobserved entries, too little for float32: use larger values or a larger {}",
         w, user, item, least_weight, weights.a_of(user) * weights.b_of(item), "alpha"_p);
  return static_cast<float>(exact);
}

/// Sets W_ui = w there and updates the bounds. The first C that is not 0 allocates `weights.c`.
inline void set_weight(Weights& weights, std::int64_t user, std::int64_t k, double w) {
  const float C = correction(weights, user, k, w);
  if (C == 0) return;
  if (weights.c.empty()) weights.c.assign(weights.support.indices.size(), 0);
  weights.c[k] = C;
  weights.lowest = std::min(weights.lowest, 1.0 + C);
  weights.highest = std::max(weights.highest, 1.0 + C);
}

}  // namespace poise
