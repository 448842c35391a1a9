#include "poise/data/synth/repair.hpp"

#include <algorithm>
#include <span>

#include "poise/data/synth/user.hpp"

namespace poise::synth {
namespace {

/// Replaces row[position] by the item, keeping the row ascending.
void replace(std::span<std::int32_t> row, std::int64_t position, std::int32_t item) {
  const auto hole = row.begin() + position;
  const auto target = std::lower_bound(row.begin(), row.end(), item);
  if (target > hole) {
    std::move(hole + 1, target, hole);
    *(target - 1) = item;
  } else {
    std::move_backward(target, hole, hole + 1);
    *target = item;
  }
}

}  // namespace

std::int64_t repair_rare_items(Csr& matrix, const Shape& shape, const Catalogue& catalogue,
                               std::int64_t least, std::uint64_t seed, const Observer* observer) {
  constexpr std::int64_t picky_tries =
      64;  // tries per missing user that require a user who favours the group
  constexpr std::int64_t tries = 1024;
  std::vector<std::int64_t> counts = column_counts(matrix.view());
  std::int64_t swaps = 0;
  for (std::int32_t item = 0; item < matrix.cols; ++item) {
    stop_if_asked(observer);
    CounterRng rng(seed, Purpose::repair, item);
    for (std::int64_t attempt = 0; counts[item] < least && attempt < tries; ++attempt) {
      const std::int64_t user = rng.below(matrix.rows);
      const std::span row =
          std::span(matrix.indices)
              .subspan(matrix.offsets[user], matrix.offsets[user + 1] - matrix.offsets[user]);
      const std::int64_t position = rng.below(static_cast<std::int64_t>(row.size()));
      if (counts[row[position]] <= 2 * least || std::binary_search(row.begin(), row.end(), item)) continue;
      if (attempt < picky_tries && make_taste(shape, catalogue, seed, user).affinity(catalogue, item) == 0)
        continue;
      --counts[row[position]];
      ++counts[item];
      replace(row, position, item);
      ++swaps;
      attempt = -1;
    }
  }
  return swaps;
}

}  // namespace poise::synth
