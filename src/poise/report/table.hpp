#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "poise/study/paper_figures.hpp"
#include "poise/study/results.hpp"

namespace poise::report {

/// One metric of one row on one data set.
struct TableCell {
  const Estimate* test = nullptr;  ///< null: not measured; validation users' if there are no others
  /// A validation figure beside test figures, for a row that is not final. It is shown in parentheses.
  bool aside = false;
  bool best = false;  ///< the only best of its model's rows, in the printed digits: a tie has no best
  std::optional<double> paper;
  const StudyPair* pair = nullptr;  ///< against the unweighted row; null for that row itself
};

/// A row on one data set; `cells` in the order of StudyResults::metrics.
struct TableEntry {
  const StudyRow* row = nullptr;  ///< null: the study has no such row
  const PaperFigure* paper = nullptr;
  std::vector<TableCell> cells;
};

struct TableRow {
  RowKind kind = RowKind::unweighted;
  std::vector<TableEntry> entries;  ///< one for each data set of the table
  int wins = 0;                     ///< how many of its cells are best
};

/// A model's rows: weighted above unweighted, then down-weighted if there is one. `compared` counts the cells
/// (metrics x data sets) that at least two of the rows have; wins and ties add up to it.
struct TableGroup {
  StudyModel model;
  std::vector<TableRow> rows;
  int compared = 0;
};

/// The paper's table: row pairs by model, three metrics and alpha for each data set, wins over all of them.
struct StudyTable {
  std::vector<const StudyData*> data;
  std::vector<TableGroup>
      groups;  ///< larger ranks first, the paper's order of models within one; popularity last
};

/// One table for each rank, full rank first, with all data sets side by side; popularity in each.
/// Pointers are into `results` and the paper's figures.
struct RankTable {
  std::optional<std::int64_t> rank;
  StudyTable table;
};
std::vector<RankTable> tables_by_rank(const StudyResults& results);

/// The columns of a rank's table besides the accuracies.
struct RankColumns {
  std::function<std::string(const StudyRow&)> alpha;
  std::function<std::string(const StudyRow&)> lambda = {};  ///< none: no such column
  bool wins = false;                                        ///< how many of its cells are best
  bool paper = false;                                       ///< the paper's figures, in a line below
};
/// The columns of a study; reports over splits have others.
RankColumns rank_columns(const StudyResults& results);

/// One table for each data set, with all models and ranks.
std::vector<StudyTable> tables_by_data(const StudyResults& results);

/// Whether a row of the table has another value than the usual one there: only then the column is shown.
bool has_any(const StudyTable& table, double StudyRow::*member, double usual = 0);

}  // namespace poise::report
