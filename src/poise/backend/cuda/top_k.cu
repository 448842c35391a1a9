#include <algorithm>

#include "poise/backend/cuda/cuda_backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/recommend/top_k.hpp"

namespace poise {

RankedLists CudaBackend::top_k(MatrixView<const float> scores, CsrView excluded, std::int64_t k) {
  Matrix<float> home(scores.rows, scores.cols);
  copy(scores, home.view());
  RankedLists lists(scores.rows, std::min(k, scores.cols));
  for_each_tile(scores.rows, threads_, [&](std::int64_t row) {
    lists.resize(row, poise::top_k(home.row(row), {.excluded = excluded.row(row)}, lists.item_slots(row),
                                   lists.score_slots(row)));
  });
  return lists;
}

}  // namespace poise
