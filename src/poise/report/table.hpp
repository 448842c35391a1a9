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
  const Estimate* test = nullptr;  ///< null: not measured; of validation users where there are no others
  /// Of validation users, beside test users' figures: a row that is not final. It stands in parentheses.
  bool aside = false;
  bool best =
      false;  ///< alone the best of its model's rows, in the digits that are printed: a tie has no best
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

/// A model's rows: weighted over unweighted, then down-weighted where there is one. `compared` counts the
/// cells (metrics x data sets) that at least two of the rows have; wins and ties add up to it.
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

/// What a rank's table has beside the accuracies of a row.
struct RankColumns {
  std::function<std::string(const StudyRow&)> alpha;
  std::function<std::string(const StudyRow&)> lambda = {};  ///< none: no such column
  bool wins = false;                                        ///< how many of its cells are best
  bool paper = false;                                       ///< the paper's figures, in a line below
};
/// Those of a study; reports over splits have others.
RankColumns rank_columns(const StudyResults& results);

/// One table for each data set, with all models and ranks.
std::vector<StudyTable> tables_by_data(const StudyResults& results);

/// Whether a row of the table has a value other than 0 there: a column that few studies need.
bool has_any(const StudyTable& table, double StudyRow::*member);

}  // namespace poise::report
