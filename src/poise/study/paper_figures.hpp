#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "poise/study/results.hpp"

namespace poise {

/// A row of the paper's tables on one data set, as printed: Ayoub, Robertson, Liang, Steck, Kallus, "Does
/// Weighting Improve Matrix Factorization for Recommender Systems?", WWW 2025, the tables of ranks d = 1000
/// (with the full rank), 100 and 10 in its body (13 pairs of rows, 3 data sets: 78 figures).
///
/// Note: the paper prints the wins of model 3 at d = 1000 as 4 and 5, but its printed accuracies give 5 and 3
/// (a tie counts for neither); and it prints alpha of model 2 as 1 + alpha of the other models' grid.
struct PaperFigure {
  int row = 0;  ///< the model's number, 1 to 5
  std::string_view model;
  std::optional<std::int64_t> rank;
  RowKind kind = RowKind::unweighted;
  std::string_view data;  ///< "ml-20m", "netflix", "msd"
  double recall_20 = 0;
  double recall_50 = 0;
  double ndcg_100 = 0;
  int alpha = 1;
  int wins = 0;  ///< of the complete row, out of the nine metrics on three data sets

  /// By the metric's name, "recall@20", "recall@50" or "ndcg@100"; none for others.
  [[nodiscard]] std::optional<double> value(std::string_view metric) const;
};

std::span<const PaperFigure> paper_figures();

/// Null if the paper has no such row: other ranks, zero diagonals, down-weighting.
const PaperFigure* paper_figure(const StudyModel& model, RowKind kind, std::string_view data);

}  // namespace poise
