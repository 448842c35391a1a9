#include "poise/model/popularity.hpp"

#include <algorithm>

#include "poise/base/error.hpp"

namespace poise {

Popularity Popularity::train(CsrView X) {
  const std::vector<std::int64_t> counts = column_counts(X);
  return Popularity(std::vector<float>(counts.begin(), counts.end()));
}

void Popularity::score(CsrView /*histories*/, std::int64_t /*first*/, MatrixView<float> scores) const {
  for (std::int64_t k = 0; k < scores.rows; ++k)
    std::copy(counts_.begin(), counts_.end(), scores.row(k).begin());
}

std::vector<double> Popularity::contributions(std::span<const std::int32_t> /*history*/,
                                              std::span<const float> /*values*/,
                                              std::int32_t /*item*/) const {
  fail(ErrorKind::usage, "the popularity model does not use the history; --explain needs a model that does");
}

void Popularity::similarity(std::int32_t /*item*/, std::span<float> /*scores*/) const {
  fail(ErrorKind::usage,
       "the popularity model does not use the history; similar items need a model that does");
}

}  // namespace poise
