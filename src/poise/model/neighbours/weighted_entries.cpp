#include "poise/model/neighbours/weighted_entries.hpp"

#include <memory>

#include "poise/base/pool.hpp"

namespace poise {
namespace {

constexpr std::int64_t columns_at_a_time = 4096;
constexpr std::int64_t error_columns_per_tile = 16;

/// E_:i for the users of C_:i; `entries` is an array of items that is 0 everywhere, and left so.
void errors_of_column(const NeighbourProblem& problem, const NeighbourColumns& columns, std::int32_t i,
                      std::vector<double>& entries, std::vector<double>& errors) {
  const CsrView weights = problem.weights();
  const auto users = weights.row(i);
  const auto C = weights.row_values(i);
  const auto items = columns.support(i);
  for (std::size_t k = 0; k < items.size(); ++k) entries[items[k]] = double{columns.entries(i)[k]};
  errors.resize(users.size());
  for (std::size_t e = 0; e < users.size(); ++e) {
    double score = 0;
    for (const std::int32_t v : problem.X.row(users[e])) score += entries[v];
    const double x = problem.has_entry(users[e], i) ? 1 : 0;
    errors[e] = problem.W->b_of(i) * problem.W->a_of(users[e]) * static_cast<double>(C[e]) * (x - score);
  }
  for (const std::int32_t item : items) entries[item] = 0;
}

}  // namespace

std::vector<double> weighted_errors(const NeighbourProblem& problem, const NeighbourColumns& columns,
                                    const Execution& execution) {
  if (!problem.has_weights()) return {};
  const CsrView& support = problem.W->support;
  std::vector<double> result(problem.W->c.size());
  // Columns come in ascending order, and so do the entries of a user.
  std::vector<std::int64_t> next(support.offsets.begin(), support.offsets.begin() + support.rows);
  Pool<std::vector<double>> arrays(
      [&] { return std::make_unique<std::vector<double>>(problem.items(), 0.0); });
  const Tiling parts{problem.items(), columns_at_a_time};
  for (std::int64_t part = 0; part < parts.tiles(); ++part) {
    stop_if_asked(execution.observer);
    const std::int64_t first = parts.first(part);
    std::vector<std::vector<double>> errors(parts.last(part) - first);
    const Tiling tiling{std::ssize(errors), error_columns_per_tile};
    for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
      const auto entries = arrays.take();
      for (std::int64_t c = tiling.first(tile); c < tiling.last(tile); ++c)
        errors_of_column(problem, columns, static_cast<std::int32_t>(first + c), *entries, errors[c]);
    });
    for (std::int64_t c = 0; c < std::ssize(errors); ++c) {
      const auto users = problem.weights().row(first + c);
      for (std::size_t e = 0; e < users.size(); ++e) result[next[users[e]]++] = errors[c][e];
    }
  }
  return result;
}

}  // namespace poise
