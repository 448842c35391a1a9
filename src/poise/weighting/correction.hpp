#pragma once

#include <algorithm>
#include <cmath>
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

/// C_ui = w / (a_u b_i) - 1 for W_ui = w at entry k of the support, which lies in row u. Error{input} when it
/// is beyond float32.
inline float correction(const Weights& weights, std::int64_t user, std::int64_t k, double w) {
  const std::int32_t item = weights.support.indices[k];
  const double exact = w / (weights.a_of(user) * weights.b_of(item)) - 1;
  if (!(exact <= std::numeric_limits<float>::max()))
    fail(ErrorKind::input,
         "the weight {} of row {}, item {} (both counted from 0) is too large for float32: use smaller "
         "values, "
         "--alpha or --clip",
         w, user, item);
  // 1 + C must stay positive where the nearest float is -1.
  return std::max(static_cast<float>(exact), std::nextafter(-1.0F, 0.0F));
}

/// Makes W_ui = w there, with the bounds kept up. `weights.c` is allocated by the first C that is not 0.
inline void set_weight(Weights& weights, std::int64_t user, std::int64_t k, double w) {
  const float C = correction(weights, user, k, w);
  if (C == 0) return;
  if (weights.c.empty()) weights.c.assign(weights.support.indices.size(), 0);
  weights.c[k] = C;
  weights.lowest = std::min(weights.lowest, 1.0 + C);
  weights.highest = std::max(weights.highest, 1.0 + C);
}

}  // namespace poise
