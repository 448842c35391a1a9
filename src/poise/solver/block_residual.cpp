#include "poise/solver/block_residual.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

#include "poise/backend/resident.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/solver/feature_residual.hpp"

namespace poise {

namespace {

constexpr std::int64_t block_width = 64;
constexpr std::int64_t users_per_tile = 4096;

/// Up to 64 columns at a time. `scores` (users x columns) holds X beta, then the errors W o (X - X beta) / b.
class Block {
 public:
  Block(const ColumnProblem& problem, CsrView users_of, std::span<const std::int32_t> items,
        MatrixView<const float> beta, MatrixView<double> by_item, MatrixView<double> scores, Backend& backend,
        const Execution& execution)
      : problem_(problem),
        users_of_(users_of),
        items_(items),
        beta_(beta),
        by_item_(by_item),
        scores_(scores),
        backend_(backend),
        execution_(execution) {}

  void run(MatrixView<double> rho, std::span<ColumnFigures> figures) {
    transpose_beta();
    multiply(problem_.X, by_item_, scores_);
    std::vector<std::vector<Stored>> stored(items_.size());
    for_each_tile(beta_.rows, execution_.threads,
                  [&](std::int64_t k) { stored[k] = stored_errors(k, figures[k]); });
    add_background(figures);
    for (std::int64_t k = 0; k < beta_.rows; ++k) add_lambda(k, figures[k]);
    if (rho.rows == 0) return;
    for_each_tile(beta_.rows, execution_.threads, [&](std::int64_t k) { put_stored(k, stored[k]); });
    multiply(users_of_, scores_, by_item_);
    for_each_tile(beta_.rows, execution_.threads, [&](std::int64_t k) { finish(k, rho.row(k)); });
  }

 private:
  /// With the support of `matrix`.
  void multiply(CsrView matrix, MatrixView<const double> from, MatrixView<double> to) {
    Borrowed<double> there(backend_, to);
    backend_.spmm(support_of(matrix), Lent(backend_, from).view(), there.view());
    there.give_back();
  }
  void transpose_beta() {
    const Tiling tiling{problem_.items(), 256};
    for_each_tile(tiling.tiles(), execution_.threads, [&](std::int64_t tile) {
      for (std::int64_t k = 0; k < beta_.rows; ++k) {
        for (std::int64_t j = tiling.first(tile); j < tiling.last(tile); ++j) by_item_(j, k) = beta_(k, j);
      }
    });
  }

  /// The amount to add to a user's error -a_u s where C or the target is not 0.
  struct Stored {
    std::int32_t user;
    double error;
  };

  /// With x = X_ui and c = a_u C_ui the error is (a + c)(x - s), so a x + c (x - s) is added to -a s; the
  /// objective gains (a + c)(x - s)^2 - a s^2. Nothing cancels, even for large c.
  std::vector<Stored> stored_errors(std::int64_t k, ColumnFigures& figures) const {
    const std::int32_t i = items_[k];
    const double b = problem_.W->b_of(i);
    figures = {};
    const auto touched = problem_.columns.view().row(i);
    const auto aC = problem_.columns.view().row_values(i);
    const auto users = users_of_.row(i);
    std::vector<Stored> stored;
    stored.reserve(std::max(touched.size(), users.size()));
    for (std::size_t t = 0, v = 0; t < touched.size() || v < users.size();) {  // both lists ascend
      const bool has_c = t < touched.size() && (v == users.size() || touched[t] <= users[v]);
      const bool has = v < users.size() && (t == touched.size() || users[v] <= touched[t]);
      const std::int32_t user = has ? users[v] : touched[t];
      const double a = problem_.W->a_of(user);
      const double c = has_c ? static_cast<double>(aC[t]) : 0.0;
      const double x = has ? 1 : 0;
      const double score = scores_(user, k);
      figures.observed += b * (a + c) * x;
      figures.objective += b * ((a + c) * (x - score) * (x - score) - a * score * score);
      stored.push_back({user, a * x + c * (x - score)});
      t += has_c ? 1 : 0;
      v += has ? 1 : 0;
    }
    return stored;
  }

  void put_stored(std::int64_t k, std::span<const Stored> stored) {
    for (const auto& [user, error] : stored) scores_(user, k) += error;
  }

  /// Adds every user's a_u b_i s^2, and replaces the score s by the error -a_u s.
  void add_background(std::span<ColumnFigures> figures) {
    const Tiling tiling{problem_.X.rows, users_per_tile};
    Matrix<double> sums(tiling.tiles(), beta_.rows);
    for_each_tile(tiling.tiles(), execution_.threads, [&](std::int64_t tile) {
      stop_if_asked(execution_.observer);
      double* const sum = sums.row(tile).data();
      for (std::int64_t u = tiling.first(tile); u < tiling.last(tile); ++u) {
        const double a = problem_.W->a_of(u);
        double* const score = scores_.row(u).data();
#pragma omp simd
        for (std::int64_t k = 0; k < beta_.rows; ++k) {
          const double s = score[k];
          sum[k] += a * s * s;
          score[k] = -a * s;
        }
      }
    });
    for (std::int64_t tile = 0; tile < tiling.tiles(); ++tile) {
      for (std::int64_t k = 0; k < beta_.rows; ++k) {
        figures[k].objective += problem_.W->b_of(items_[k]) * sums(tile, k);
      }
    }
  }

  void add_lambda(std::int64_t k, ColumnFigures& figures) const {
    for (std::int64_t j = 0; j < problem_.items(); ++j) {
      const double entry = beta_(k, j);
      figures.objective += problem_.l[j] * entry * entry;
    }
  }

  void finish(std::int64_t k, std::span<double> rho) const {
    const double b = problem_.W->b_of(items_[k]);
    for (std::int64_t j = 0; j < problem_.items(); ++j) {
      rho[j] = b * by_item_(j, k) - problem_.l[j] * static_cast<double>(beta_(k, j));
    }
  }

  const ColumnProblem& problem_;
  CsrView users_of_;
  std::span<const std::int32_t> items_;
  MatrixView<const float> beta_;
  MatrixView<double> by_item_;
  MatrixView<double> scores_;
  Backend& backend_;
  const Execution& execution_;
};

}  // namespace

void block_residuals(const ColumnProblem& problem, CsrView users_of, std::span<const std::int32_t> items,
                     MatrixView<const float> beta, MatrixView<double> rho, std::span<ColumnFigures> figures,
                     Backend& backend, const Execution& execution) {
  assert(problem.target_is_X);
  const Tiling tiling{static_cast<std::int64_t>(items.size()), block_width};
  const std::int64_t width = std::min(block_width, tiling.count);
  Matrix<double> by_item(problem.items(), width);
  Matrix<double> scores(problem.X.rows, width);
  for (std::int64_t tile = 0; tile < tiling.tiles(); ++tile) {
    const std::int64_t first = tiling.first(tile);
    const std::int64_t count = tiling.last(tile) - first;
    Block(problem, users_of, items.subspan(first, count), beta.block(first, count),
          {by_item.view().data, by_item.rows(), count, width},
          {scores.view().data, scores.rows(), count, width}, backend, execution)
        .run(rho.rows > 0 ? rho.block(first, count) : rho, figures.subspan(first, count));
    add_feature_residuals(problem, items.subspan(first, count), beta.block(first, count),
                          rho.rows > 0 ? rho.block(first, count) : rho, figures.subspan(first, count),
                          backend);
  }
}

}  // namespace poise
