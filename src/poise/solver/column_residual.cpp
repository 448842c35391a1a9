#include "poise/solver/column_residual.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace poise {

namespace {

/// Columns processed together: X is read once for all of them, and a row of their entries is two cache lines.
constexpr std::int64_t lanes = 32;
constexpr std::int32_t elsewhere = -1;

using Lanes = std::array<double, lanes>;

/// One group of columns: their entries by item (n x lanes), and the index of each item among the columns.
class Group {
 public:
  Group(const ColumnProblem& problem, std::span<const std::int32_t> items, MatrixView<const float> beta)
      : problem_(problem),
        items_(items),
        beta_(problem.items(), lanes),
        lane_of_(problem.items(), elsewhere) {
    for (std::size_t k = 0; k < items.size(); ++k) {
      lane_of_[items[k]] = static_cast<std::int32_t>(k);
      b_[k] = problem.W->b_of(items[k]);
      const auto row = beta.row(static_cast<std::int64_t>(k));
      for (std::int64_t j = 0; j < problem.items(); ++j) beta_(j, static_cast<std::int64_t>(k)) = row[j];
    }
  }

  /// Adds user u's part: the user's error W o (Y - X beta) to every item of its row in `rho`.
  void add_user(std::int64_t u, std::span<ColumnFigures> figures, MatrixView<double> rho) {
    const auto history = problem_.X.row(u);
    Lanes scores = {};
    for (const std::int32_t j : history) {
      const float* const entries = &beta_(j, 0);
      for (std::int64_t k = 0; k < lanes; ++k) scores[k] += entries[k];
    }
    const double a = problem_.W->a_of(u);
    Lanes weight = {};
    Lanes target = {};
    for (std::int64_t k = 0; k < lanes; ++k) weight[k] = a * b_[k];
    if (!problem_.W->c.empty()) {
      const CsrView& support = problem_.W->support;
      for (std::int64_t e = support.offsets[u]; e < support.offsets[u + 1]; ++e) {
        const std::int32_t lane = lane_of_[support.indices[e]];
        if (lane != elsewhere) weight[lane] *= 1.0 + static_cast<double>(problem_.W->c[e]);
      }
    }
    const auto targets = problem_.Y.row(u);
    const auto values = problem_.target_is_X ? std::span<const float>() : problem_.Y.row_values(u);
    for (std::size_t e = 0; e < targets.size(); ++e) {
      const std::int32_t lane = lane_of_[targets[e]];
      if (lane != elsewhere) target[lane] = values.empty() ? 1.0 : values[e];
    }
    Lanes error = {};
    for (std::int64_t k = 0; k < lanes; ++k) error[k] = target[k] - scores[k];
    for (std::size_t k = 0; k < figures.size(); ++k) {
      figures[k].observed += weight[k] * target[k] * target[k];
      figures[k].objective += weight[k] * error[k] * error[k];
    }
    if (rho.rows == 0) return;
    for (std::int64_t k = 0; k < lanes; ++k) error[k] *= weight[k];
    for (const std::int32_t j : history) {
      double* const entries = &rho(j, 0);
      for (std::int64_t k = 0; k < lanes; ++k) entries[k] += error[k];
    }
  }

  /// Adds the regularizer's part.
  void add_lambda(std::span<ColumnFigures> figures, MatrixView<double> rho) const {
    for (std::int64_t j = 0; j < problem_.items(); ++j) {
      for (std::size_t k = 0; k < figures.size(); ++k) {
        const double entry = beta_(j, static_cast<std::int64_t>(k));
        figures[k].objective += problem_.l[j] * entry * entry;
        if (rho.rows > 0) rho(j, static_cast<std::int64_t>(k)) -= problem_.l[j] * entry;
      }
    }
  }

 private:
  const ColumnProblem& problem_;
  std::span<const std::int32_t> items_;
  Matrix<float> beta_;
  std::vector<std::int32_t> lane_of_;
  Lanes b_ = {};
};

}  // namespace

void column_residuals(const ColumnProblem& problem, std::span<const std::int32_t> items,
                      MatrixView<const float> beta, MatrixView<double> rho, std::span<ColumnFigures> figures,
                      const Execution& execution) {
  const Tiling tiling{static_cast<std::int64_t>(items.size()), lanes};
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    stop_if_asked(execution.observer);
    const std::int64_t first = tiling.first(tile);
    const std::int64_t count = tiling.last(tile) - first;
    Group group(problem, items.subspan(first, count), beta.block(first, count));
    const std::span<ColumnFigures> part = figures.subspan(first, count);
    std::fill(part.begin(), part.end(), ColumnFigures{});
    Matrix<double> sums(rho.rows > 0 ? problem.items() : 0, lanes);
    for (std::int64_t u = 0; u < problem.X.rows; ++u) group.add_user(u, part, sums.view());
    group.add_lambda(part, sums.view());
    for (std::int64_t k = 0; k < count && rho.rows > 0; ++k) {
      for (std::int64_t j = 0; j < problem.items(); ++j) rho(first + k, j) = sums(j, k);
    }
  });
}

}  // namespace poise
