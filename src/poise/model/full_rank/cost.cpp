#include "poise/model/full_rank/cost.hpp"

#include <algorithm>
#include <cmath>

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/solver/woodbury.hpp"

namespace poise {

namespace {

/// A gathered operation (one of the two of a read and an addition, or of a read, an addition and a store) in
/// operations of a matrix product.
constexpr double gathered_cost = 35;

/// l_i <- l_i (|S_i| / g)^nu, g the geometric mean of |S_i| over items with users. An item without users
/// counts as one that has a single user.
void scale_by_popularity(std::vector<double>& l, const TrainingCounts& training,
                         const FullRankOptions& options) {
  const std::vector<std::int64_t>& counts = training.item_users;
  double logs = 0;
  std::int64_t used = 0;
  for (const std::int64_t count : std::span(counts).first(training.reference)) {
    if (count == 0) continue;
    logs += std::log(static_cast<double>(count));
    ++used;
  }
  const double log_g = used > 0 ? logs / static_cast<double>(used) : 0;
  for (std::size_t i = 0; i < l.size(); ++i) {
    const double users = static_cast<double>(std::max<std::int64_t>(counts[i], 1));
    l[i] *= std::exp(options.lambda_exponent * (std::log(users) - log_g));
    if (l[i] >= least_lambda && l[i] <= most_lambda) continue;
    fail(ErrorKind::usage,
         "{} {} with {} {} is {:.1e} for an item of {} users, outside of {} to {}; give an exponent nearer "
         "to 0",
         "lambda"_p, options.lambda, "lambda-exponent"_p, options.lambda_exponent, l[i], counts[i],
         least_lambda, most_lambda);
  }
}

}  // namespace

void validate(const FullRankOptions& options) {
  if (!(options.lambda >= least_lambda && options.lambda <= most_lambda)) {
    fail(ErrorKind::usage, "{} {} is out of range: it must be positive, from {} to {}", "lambda"_p,
         options.lambda, least_lambda, most_lambda);
  }
  // Beyond, popular items are regularized a trillion times as much as rare ones, or the other way round.
  constexpr double steepest = 4;
  if (!(std::abs(options.lambda_exponent) <= steepest)) {
    fail(ErrorKind::usage, "{} {} is out of range: for full rank it must be from {} to {}",
         "lambda-exponent"_p, options.lambda_exponent, -steepest, steepest);
  }
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    fail(ErrorKind::usage, "{} {} is out of range: it must be at least 0 and below 1", "dropout"_p,
         options.dropout);
  }
  // As that of weights (weighting.cpp): products of larger ones would not fit float32.
  constexpr double most_weight = 1e30;
  if (!(options.feature_weight >= 0 && options.feature_weight <= most_weight)) {
    fail(ErrorKind::usage, "{} {} is out of range: it must be from 0 to {}", "feature-weight"_p,
         options.feature_weight, most_weight);
  }
  if (!(options.tolerance > 0 && options.tolerance < 1)) {
    fail(ErrorKind::usage, "{} {} is out of range: it must be between 0 and 1", "tolerance"_p,
         options.tolerance);
  }
}

std::int64_t spread_block(std::int64_t items, int processes) {
  constexpr std::int64_t narrowest = 256;
  constexpr std::int64_t step = 64;
  return std::clamp(items / (20 * processes) / step * step, narrowest, full_rank_block);
}

std::vector<double> full_rank_lambda(CsrView X, const FullRankOptions& options) {
  if (options.dropout == 0 && options.lambda_exponent == 0)
    return std::vector<double>(X.cols, options.lambda);
  return full_rank_lambda(training_counts(X), options);
}

std::vector<double> full_rank_lambda(const TrainingCounts& counts, const FullRankOptions& options) {
  std::vector<double> l(counts.item_users.size(), options.lambda);
  if (options.lambda_exponent != 0) scale_by_popularity(l, counts, options);
  for (std::size_t i = 0; i < l.size() && options.dropout != 0; ++i) {
    l[i] += options.dropout / (1 - options.dropout) * static_cast<double>(counts.item_users[i]);
  }
  return l;
}

double iteration_operations(const ColumnProblem& problem, std::int32_t i, const ColumnLoad& load,
                            double tolerance) {
  constexpr double residual_cost = 15;
  const double root = std::sqrt(problem.hi(i) / problem.lo(i));
  const double rate = std::log((root + 1) / std::max(root - 1, 1e-3));
  const double iterations = std::max(1.0, 0.75 * std::log(2 / std::sqrt(tolerance)) / rate);
  const auto n = static_cast<double>(problem.items());
  return (iterations + 1) * 2 * n * n + gathered_cost * 4 * iterations * load.entries +
         residual_cost * 4 * static_cast<double>(problem.X.entries());
}

namespace {

constexpr double many_columns = 8000;

/// A sparse-dense product costs some 14 times as much an operation in float64.
double measuring_operations(const ColumnProblem& problem) {
  constexpr double sparse_cost = 14;
  return sparse_cost * 2 * static_cast<double>(problem.X.entries()) * static_cast<double>(problem.items());
}

}  // namespace

bool measured_in_a_moment(const ColumnProblem& problem) {
  constexpr double moment = 2e10;
  return static_cast<double>(problem.items()) < many_columns && measuring_operations(problem) <= moment;
}

bool measured_whole(const ColumnProblem& problem, const FullRankOptions& options) {
  // Of small problems it may take as much as the rest, and a fraction of a second in any case.
  if (measured_in_a_moment(problem)) return true;
  const double share = static_cast<double>(problem.items()) < many_columns ? 1.0 : 0.03;
  return measuring_operations(problem) <= share * full_rank_operations(problem.X, *problem.W, options);
}

bool woodbury_possible(const ColumnProblem& problem, std::uint64_t memory_limit, bool float64) {
  if (!problem.W->b.empty() || !problem.target_is_X) return false;
  const FullRankMemory memory = full_rank_memory(problem.X, true, 2);
  const auto n = static_cast<std::uint64_t>(problem.items());
  // In float64 the inverse and T take twice as much.
  const std::uint64_t more = float64 ? memory.with_T - memory.least + n * n * sizeof(float) : 0;
  return memory.with_T + more <= memory_limit;
}

FullRankMemory full_rank_memory(CsrView X, bool weighted, int solutions) {
  const auto n = static_cast<std::uint64_t>(X.cols);
  const auto users = static_cast<std::uint64_t>(X.rows);
  const std::uint64_t matrix = n * n * sizeof(float);
  // Conjugate gradients hold ten blocks of columns, the proof of a closed form two.
  const std::uint64_t blocks =
      (weighted ? 10 : 2) * std::min<std::uint64_t>(n, full_rank_block) * n * sizeof(float);
  const std::uint64_t matrices = weighted || solutions > 1 ? 1 + static_cast<std::uint64_t>(solutions) : 1;
  const std::uint64_t scores = 128 * users * sizeof(float);
  // X', and with weights these, the columns' errors and a copy of half of them by user.
  const std::uint64_t entries = (weighted ? 28 : 8) * static_cast<std::uint64_t>(X.entries());
  const std::uint64_t least = matrices * matrix + blocks + scores + entries;
  return {.least = least, .with_T = least + users * n * sizeof(float)};
}

std::uint64_t feature_bytes(const FullRankOptions& options) {
  if (!options.with_features()) return 0;
  // F', rows of F'F while they are added, and products of F with the probes.
  constexpr std::uint64_t rows_together = 256;
  constexpr std::uint64_t probes = 64;
  const auto items = static_cast<std::uint64_t>(options.features.cols);
  return static_cast<std::uint64_t>(options.features.entries()) * (sizeof(std::int32_t) + sizeof(float)) +
         items * sizeof(std::int64_t) + rows_together * items * sizeof(float) +
         probes * static_cast<std::uint64_t>(options.features.rows) * sizeof(double);
}

void check_full_rank_memory(CsrView X, const Weights& W, const FullRankOptions& options) {
  const bool weighted = !W.c.empty() || !W.b.empty();
  const int solutions = (options.unconstrained ? 1 : 0) + (options.zero_diagonal ? 1 : 0);
  FullRankMemory memory = full_rank_memory(X, weighted, solutions);
  memory.least += feature_bytes(options);
  if (memory.least > options.memory_limit) {
    const double scale =
        std::sqrt(static_cast<double>(options.memory_limit) / static_cast<double>(memory.least));
    const auto [needed, limit] =
        compared_bytes(static_cast<double>(memory.least), static_cast<double>(options.memory_limit));
    fail(ErrorKind::resources,
         "a full-rank model of {} items needs {} and the memory limit is {}; about {} items would fit ({} at "
         "`poise prepare`), or raise {}, or give {}, which holds nothing of items x items",
         X.cols, needed, limit, static_cast<std::int64_t>(scale * static_cast<double>(X.cols)),
         "min-item-users"_p, "memory-limit"_p, "neighbours"_p);
  }
}

std::uint64_t gpu_block_bytes(std::int64_t items) {
  constexpr std::uint64_t of_an_item = 256 * 64;
  return of_an_item * static_cast<std::uint64_t>(items);
}

std::uint64_t full_rank_gpu_memory(std::int64_t items, bool weighted, int solutions) {
  const auto n = static_cast<std::uint64_t>(items);
  return gpu_matrices(weighted, solutions) * n * n * sizeof(float) + gpu_block_bytes(items);
}

void check_full_rank_gpu_memory(CsrView X, const Weights& W, const FullRankOptions& options,
                                std::uint64_t gpu_memory) {
  const int solutions = (options.unconstrained ? 1 : 0) + (options.zero_diagonal ? 1 : 0);
  const auto needed = static_cast<double>(full_rank_gpu_memory(X.cols, !W.uniform(), solutions));
  const auto there = static_cast<double>(gpu_memory);
  if (needed <= there) return;
  const auto [needed_text, there_text] = compared_bytes(needed, there);
  fail(ErrorKind::resources,
       "a full-rank model of {} items needs about {} of the GPU's memory, which is {}; about {} items would "
       "fit ({} at `poise prepare`), or use {} cpu",
       X.cols, needed_text, there_text,
       static_cast<std::int64_t>(std::sqrt(there / needed) * static_cast<double>(X.cols)), "min-item-users"_p,
       "device"_p);
}

double full_rank_operations(CsrView X, const Weights& W, const FullRankOptions& options, int threads) {
  constexpr double row_cost = 30;
  const auto n = static_cast<double>(X.cols);
  double pairs = 0;
  for (std::int64_t u = 0; u < X.rows; ++u) {
    pairs += static_cast<double>(X.row_size(u)) * static_cast<double>(X.row_size(u));
  }
  double operations = inverse_operations(X.cols) + 2 * gathered_cost * pairs;
  if (W.c.empty() && W.b.empty()) return operations;
  // The problem without its largest part, which the loads represent.
  Weights rest;
  rest.b = W.b;
  rest.lowest = W.lowest;
  rest.highest = W.highest;
  const ColumnProblem problem = make_column_problem(X, rest, full_rank_lambda(X, options));
  const std::vector<ColumnLoad> loads = column_loads(X, W, threads);
  const bool possible = !W.c.empty() && woodbury_possible(problem, options.memory_limit, false);
  if (possible) operations += row_cost * static_cast<double>(X.entries()) * n;
  for (std::int32_t i = 0; i < X.cols; ++i) {
    const double iterated = iteration_operations(problem, i, loads[i], options.tolerance);
    operations += possible ? std::min(iterated, woodbury_operations(loads[i], X.cols)) : iterated;
  }
  return operations;
}

}  // namespace poise
