#pragma once

#include <algorithm>
#include <random>

#include "poise/linalg/csr.hpp"

namespace poise::testing {

/// Entries that X does not have, each with probability `density`.
inline Csr random_dislikes(CsrView X, double density, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform;
  Csr disliked{.rows = X.rows, .cols = X.cols, .offsets = {0}};
  for (std::int64_t u = 0; u < X.rows; ++u) {
    for (std::int32_t i = 0; i < X.cols; ++i) {
      const bool drawn = uniform(generator) < density;
      if (drawn && !std::ranges::binary_search(X.row(u), i)) disliked.indices.push_back(i);
    }
    disliked.offsets.push_back(disliked.entries());
  }
  return disliked;
}

}  // namespace poise::testing
