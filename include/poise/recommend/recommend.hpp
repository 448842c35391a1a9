#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/ranked_lists.hpp"
#include "poise/model/scorer.hpp"

namespace poise {

struct RecommendOptions {
  std::int64_t k = 20;
  bool exclude_history = true;
  CsrView seen =
      {};  ///< what else each row is not recommended; empty, or as many rows as there are histories
  std::vector<std::int32_t> exclude = {};  ///< items that nobody is recommended, in any order
  std::optional<std::vector<std::int32_t>> only = std::nullopt;  ///< recommend nothing else, in any order
  /// 0 to 1: how much it counts that an item is unlike those before it (recommend/diversify.hpp); 0: nothing.
  double diversify = 0;
};

/// The k best items for each row of `histories`, ordered by score descending, then item index ascending. No
/// item that a row dislikes is in its list. A list is shorter than k where fewer items are left. With
/// `diversify` the order is another one, of at most 1000 items; scores stay the model's. Works in blocks of
/// users; the result does not depend on the threads. With the backend of a GPU, scores and ranks there;
/// scores then differ by rounding. Error{usage} for k < 1, and for `diversify` outside 0 to 1, with a longer
/// list or with a model that knows no similar items; Error{input} for an unknown item, Error{numerical} for a
/// NaN score.
RankedLists recommend(const Scorer& scorer, const UserRows& histories, const RecommendOptions& options,
                      const Execution& execution, Backend* backend = nullptr);

}  // namespace poise
