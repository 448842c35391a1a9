#include "poise/model/popularity.hpp"

#include <algorithm>

namespace poise {

Popularity Popularity::train(CsrView X) {
  const std::vector<std::int64_t> counts = column_counts(X);
  return Popularity(std::vector<float>(counts.begin(), counts.end()));
}

void Popularity::score(CsrView /*histories*/, std::int64_t /*first*/, MatrixView<float> scores) const {
  for (std::int64_t k = 0; k < scores.rows; ++k)
    std::copy(counts_.begin(), counts_.end(), scores.row(k).begin());
}

}  // namespace poise
