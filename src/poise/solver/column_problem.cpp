#include "poise/solver/column_problem.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "poise/base/first_touch.hpp"
#include "poise/base/parallel.hpp"

namespace poise {

namespace {

constexpr std::int64_t rows_per_tile = 1024;

}  // namespace

ColumnProblem make_column_problem(CsrView X, const Weights& W, std::vector<double> l, const CsrView* target,
                                  int threads) {
  ColumnProblem problem = begin_column_problem(X, W, std::move(l), target);
  problem.columns = columns_of_weights(X, W, threads);
  return problem;
}

ColumnProblem begin_column_problem(CsrView X, const Weights& W, std::vector<double> l,
                                   const CsrView* target) {
  ColumnProblem problem;
  problem.X = X;
  problem.W = &W;
  problem.l = std::move(l);
  problem.Y = target != nullptr ? *target : X;
  problem.target_is_X = target == nullptr;
  if (!W.b.empty()) {
    double sum = 0;
    for (const float b : W.b) sum += std::log(static_cast<double>(b));
    problem.b_bar = std::exp(sum / static_cast<double>(W.b.size()));
  }
  return problem;
}

void set_features(ColumnProblem& problem, CsrView F, double beta) {
  problem.features = FeatureRows(F, beta);
  problem.of_features = problem.features.observed();
}

double observed_weight(const ColumnProblem& problem) {
  double sum = problem.W->observed;
  for (std::size_t i = 0; i < problem.of_features.size(); ++i)
    sum += problem.W->b_of(static_cast<std::int64_t>(i)) * problem.of_features[i];
  return sum;
}

Csr columns_of_weights(CsrView X, const Weights& W, int threads) {
  if (W.c.empty()) {
    return {.rows = X.cols, .cols = X.rows, .offsets = std::vector<std::int64_t>(X.cols + 1, 0)};
  }
  CsrView weighted = W.support;
  weighted.values = W.c;
  std::vector<float> values;
  if (!W.a.empty()) {
    resize_by_threads(values, static_cast<std::int64_t>(W.c.size()), threads);
    for_each_row({X.rows, rows_per_tile}, threads, [&](std::int64_t u) {
      for (std::int64_t k = W.support.offsets[u]; k < W.support.offsets[u + 1]; ++k) {
        values[k] = static_cast<float>(W.a_of(u) * W.c[k]);
      }
    });
    weighted.values = values;
  }
  return transpose(weighted, threads);
}

std::vector<double> weight_corrections(CsrView users_of, std::span<const double> of_users) {
  std::vector<double> corrections(users_of.rows, 1.0);
  for (std::int64_t i = 0; i < users_of.rows; ++i) {
    double sum = 0;
    for (const float weight : users_of.row_values(i)) sum += static_cast<double>(weight);
    if (sum > 0) corrections[i] = of_users[i] / sum;
  }
  return corrections;
}

std::vector<double> observed_weights(const ColumnProblem& problem, CsrView users_of, int threads) {
  const Weights& W = *problem.W;
  std::vector<double> observed(problem.items(), 0.0);
  if (W.c.empty()) {
    // A fixed number of partial sums of a, for any number of threads.
    const Tiling parts{problem.X.rows, std::max<std::int64_t>(1, (problem.X.rows + 15) / 16)};
    std::vector<std::vector<double>> sums(parts.tiles(), std::vector<double>(problem.items(), 0.0));
    for_each_tile(parts.tiles(), threads, [&](std::int64_t part) {
      for (std::int64_t u = parts.first(part); u < parts.last(part); ++u) {
        for (const std::int32_t i : problem.X.row(u)) sums[part][i] += W.a_of(u);
      }
    });
    for (const std::vector<double>& part : sums) {
      for (std::int64_t i = 0; i < problem.items(); ++i) observed[i] += part[i];
    }
    for (std::int64_t i = 0; i < problem.items(); ++i) observed[i] *= W.b_of(i);
    return observed;
  }
  for_each_row({problem.items(), rows_per_tile}, threads, [&](std::int64_t i) {
    if (users_of.rows > 0) {
      for (const float weight : users_of.row_values(i)) observed[i] += weight;
      return;
    }
    const auto users = problem.columns.view().row(i);
    const auto aC = problem.columns.view().row_values(i);
    for (std::size_t k = 0; k < users.size(); ++k)
      observed[i] += W.b_of(i) * (W.a_of(users[k]) + static_cast<double>(aC[k]));
  });
  return observed;
}

WeightedTranspose weighted_transpose(const ColumnProblem& problem, int threads) {
  if (problem.on_support_of_X()) {
    // The users of X_:i are those of C_:i: W_ui = b_i (a_u + a_u C_ui).
    const CsrView columns = problem.columns.view();
    std::vector<float> values;
    resize_by_threads(values, columns.entries(), threads);
    for_each_row({columns.rows, rows_per_tile}, threads, [&](std::int64_t i) {
      for (std::int64_t k = columns.offsets[i]; k < columns.offsets[i + 1]; ++k) {
        values[k] = static_cast<float>(problem.W->b_of(i) * (problem.W->a_of(columns.indices[k]) +
                                                             static_cast<double>(columns.values[k])));
      }
    });
    return {.own = {}, .columns = columns, .values = std::move(values)};
  }
  std::vector<float> weights;
  resize_by_threads(weights, problem.X.entries(), threads);
  for_each_row({problem.X.rows, rows_per_tile}, threads, [&](std::int64_t u) {
    const auto items = problem.X.row(u);
    const std::int64_t first = problem.X.offsets[u];
    for (std::size_t k = 0; k < items.size(); ++k) {
      weights[first + static_cast<std::int64_t>(k)] =
          static_cast<float>(problem.W->a_of(u) * problem.W->b_of(items[k]));
    }
    if (problem.W->c.empty()) return;
    const CsrView& support = problem.W->support;
    const auto touched = support.row(u);
    std::size_t k = 0;
    for (std::size_t e = 0; e < touched.size(); ++e) {  // both rows ascend
      while (k < items.size() && items[k] < touched[e]) ++k;
      if (k == items.size() || items[k] != touched[e]) continue;
      weights[first + static_cast<std::int64_t>(k)] *=
          1 + problem.W->c[support.offsets[u] + static_cast<std::int64_t>(e)];
    }
  });
  CsrView weighted = problem.X;
  weighted.values = weights;
  return {.own = transpose(weighted, threads), .columns = {}, .values = {}};
}

std::vector<ColumnLoad> column_loads(CsrView X, const Weights& W, int threads) {
  std::vector<ColumnLoad> loads(X.cols);
  if (W.c.empty()) return loads;
  // Whole numbers: their sums do not depend on the blocks.
  const std::int64_t blocks = std::clamp<std::int64_t>(threads, 1, 64);
  const Tiling rows{X.rows, std::max<std::int64_t>(1, (X.rows + blocks - 1) / blocks)};
  std::mutex mutex;
  for_each_tile(rows.tiles(), threads, [&](std::int64_t block) {
    std::vector<ColumnLoad> own(X.cols);
    for (std::int64_t u = rows.first(block); u < rows.last(block); ++u) {
      const auto size = static_cast<double>(X.row_size(u));
      for (const std::int32_t i : W.support.row(u)) {
        own[i].users += 1;
        own[i].entries += size;
      }
    }
    const std::lock_guard lock(mutex);
    for (std::int64_t i = 0; i < X.cols; ++i) {
      loads[i].users += own[i].users;
      loads[i].entries += own[i].entries;
    }
  });
  return loads;
}

}  // namespace poise
