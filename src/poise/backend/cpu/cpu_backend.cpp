#include "poise/backend/cpu/cpu_backend.hpp"

#include <algorithm>

#include "poise/base/parallel.hpp"
#include "poise/linalg/top_k.hpp"

namespace poise {

RankedLists CpuBackend::top_k(MatrixView<const float> scores, CsrView excluded, std::int64_t k) {
  RankedLists lists(scores.rows, std::min(k, scores.cols));
  const Tiling tiling{scores.rows, 64};
  for_each_tile(tiling.tiles(), threads_, [&](std::int64_t tile) {
    for (std::int64_t row = tiling.first(tile); row < tiling.last(tile); ++row) {
      lists.resize(row, poise::top_k(scores.row(row), {.excluded = excluded.row(row)}, lists.item_slots(row),
                                     lists.score_slots(row)));
    }
  });
  return lists;
}

}  // namespace poise
