#include "poise/recommend/similar.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/linalg/top_k.hpp"
#include "poise/recommend/item_range.hpp"

namespace poise {

RankedLists similar(const Scorer& scorer, std::int32_t item, std::int64_t k) {
  if (k < 1) fail(ErrorKind::usage, "k is {}: ask for at least one item", k);
  check_item(item, scorer.items());
  std::vector<float> scores(scorer.items());
  scorer.similarity(item, scores);
  RankedLists list(1, std::min(k, scorer.items()));
  const std::array<std::int32_t, 1> itself = {item};
  list.resize(0, top_k(scores, {.excluded = itself}, list.item_slots(0), list.score_slots(0)));
  return list;
}

}  // namespace poise
