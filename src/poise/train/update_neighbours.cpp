#include <algorithm>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/model/family.hpp"
#include "poise/model/full_rank/family.hpp"
#include "poise/model/neighbours/train.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/update.hpp"

namespace poise {

namespace {

/// The items of the rows of user u that differ, with their weights.
void touch(CsrView X, const Weights& before, CsrView Y, const Weights& after, std::int64_t u,
           std::vector<char>& touched) {
  const auto old_row = u < X.rows ? X.row(u) : std::span<const std::int32_t>();
  const auto new_row = Y.row(u);
  const bool all = u >= X.rows || before.a_of(u) != after.a_of(u);
  const auto weight = [](CsrView rows, const Weights& W, std::int64_t user, auto place) {
    return W.c.empty() ? 0.0F : W.c[rows.offsets[user] + (place - rows.row(user).begin())];
  };
  for (auto place = new_row.begin(); place != new_row.end(); ++place) {
    const auto there = std::ranges::lower_bound(old_row, *place);
    if (all || there == old_row.end() || *there != *place ||
        weight(X, before, u, there) != weight(Y, after, u, place))
      touched[*place] = 1;
  }
  for (const std::int32_t item : old_row) {
    if (all || !std::ranges::binary_search(new_row, item)) touched[item] = 1;
  }
}

}  // namespace

std::vector<char> touched_items(CsrView X, const Weights& before, CsrView Y, const Weights& after,
                                std::span<const std::int32_t> changed) {
  std::vector<char> touched(Y.cols, 0);
  for (const std::int32_t u : changed) touch(X, before, Y, after, u, touched);
  for (std::int64_t u = X.rows; u < Y.rows; ++u) touch(X, before, Y, after, u, touched);
  return touched;
}

Updated update_neighbours(const FullRank& model, const ModelParameters& parameters, const Dataset& data,
                          const Merged& merged, const UpdateOptions& options, Backend& backend,
                          const Execution& execution) {
  validate(parameters);
  if (depends_on_counts(parameters))
    return train_again(
        parameters, merged,
        fmt::format("with {} every new row changes every column", counted_parameter(parameters)), options,
        backend, execution);
  const CsrView before = data.train.view();
  const CsrView after = merged.dataset.train.view();
  const Weights W_before = weights_of(parameters, before, execution.threads);
  const Weights W = weights_of(parameters, after, execution.threads);
  const Csr columns = transpose(*model.sparse(), execution.threads);
  EarlierColumns earlier{.columns = columns.view(),
                         .touched = touched_items(before, W_before, after, W, merged.changed),
                         .tolerance = parameters.tolerance};
  for (const std::int32_t item : merged.described) earlier.touched[item] = 1;
  FitContext context{after, options.memory_limit, backend, execution};
  const FullRankOptions fit =
      full_rank_options(parameters, options.memory_limit, merged.dataset.features.rows.view());
  Updated updated{.trained = train_neighbours(fit, parameters.neighbours, W, context, nullptr, &earlier)};
  updated.kept_columns = updated.trained.resumed_columns;
  return updated;
}

}  // namespace poise
