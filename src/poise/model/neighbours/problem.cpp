#include "poise/model/neighbours/problem.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "poise/base/parallel.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/model/full_rank/cost.hpp"

namespace poise {
namespace {

void rank_items(NeighbourProblem& problem, int threads) {
  const std::int64_t n = problem.items();
  problem.by_rank = numbers_from(0, n);
  std::ranges::stable_sort(problem.by_rank, std::greater<>(),
                           [&](std::int32_t i) { return problem.users_of.view().row_size(i); });
  problem.rank_of.resize(n);
  for (std::int64_t rank = 0; rank < n; ++rank)
    problem.rank_of[problem.by_rank[rank]] = static_cast<std::int32_t>(rank);
  problem.ranks = decltype(problem.ranks)(problem.X.indices.size());
  const Tiling tiling{std::ssize(problem.ranks), std::int64_t{1} << 18};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    for (std::int64_t e = tiling.first(tile); e < tiling.last(tile); ++e)
      problem.ranks[e] = problem.rank_of[problem.X.indices[e]];
  });
}

}  // namespace

bool NeighbourProblem::has_entry(std::int64_t user, std::int32_t item) const {
  return C_on_X || std::ranges::binary_search(X.row(user), item);
}

std::vector<double> NeighbourProblem::diagonal(int threads) const {
  std::vector<double> G(items(), 0.0);
  const Tiling tiling{items(), 1024};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    for (std::int64_t i = tiling.first(tile); i < tiling.last(tile); ++i) {
      for (const std::int32_t u : users_of.view().row(i)) G[i] += W->a_of(u);
      if (!of_features.empty()) G[i] += of_features[i];
    }
  });
  return G;
}

NeighbourProblem make_neighbour_problem(CsrView X, const Weights& W, const FullRankOptions& options,
                                        int threads) {
  X.values = {};
  NeighbourProblem problem{.X = X,
                           .W = &W,
                           .l = full_rank_lambda(X, options),
                           .zero_diagonal = options.zero_diagonal,
                           .b_bar = 1,
                           .users_of = {},
                           .other_weights = {},
                           .C_on_X = false,
                           .by_rank = {},
                           .rank_of = {},
                           .ranks = {},
                           .features = FeatureRows(options.features, options.feature_weight)};
  if (!problem.features.empty()) problem.of_features = problem.features.observed();
  if (!W.b.empty()) {
    double logs = 0;
    for (const float b : W.b) logs += std::log(static_cast<double>(b));
    problem.b_bar = std::exp(logs / static_cast<double>(W.b.size()));
  }
  problem.C_on_X = !W.c.empty() && W.support.indices.data() == X.indices.data() &&
                   W.support.offsets.data() == X.offsets.data();
  CsrView weighted = X;
  if (problem.C_on_X) weighted.values = W.c;
  problem.users_of = transpose(weighted, threads);
  if (!W.c.empty() && !problem.C_on_X) {
    CsrView support = W.support;
    support.values = W.c;
    problem.other_weights = transpose(support, threads);
  }
  rank_items(problem, threads);
  return problem;
}

Csr rows_of(const NeighbourColumns& columns) {
  Csr rows{.rows = columns.count, .cols = columns.count, .offsets = {}, .indices = {}, .values = {}};
  rows.offsets.assign(columns.count + 1, 0);
  const auto entries = static_cast<std::int64_t>(columns.items.size());
  for (std::int64_t e = 0; e < entries; ++e) {
    if (columns.values[e] != 0) ++rows.offsets[columns.items[e] + 1];
  }
  for (std::int64_t i = 0; i < columns.count; ++i) rows.offsets[i + 1] += rows.offsets[i];
  rows.indices.resize(rows.offsets.back());
  rows.values.resize(rows.offsets.back());
  std::vector<std::int64_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
  for (std::int64_t j = 0; j < columns.count; ++j) {  // ascending, so that rows ascend
    const auto items = columns.support(j);
    const auto values = columns.entries(j);
    for (std::int64_t p = 0; p < columns.k; ++p) {
      if (values[p] == 0) continue;
      const std::int64_t at = next[items[p]]++;
      rows.indices[at] = static_cast<std::int32_t>(j);
      rows.values[at] = values[p];
    }
  }
  return rows;
}

}  // namespace poise
