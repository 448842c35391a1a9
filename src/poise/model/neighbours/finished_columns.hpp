#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "poise/comm/processes.hpp"
#include "poise/model/neighbours/checkpoint.hpp"

namespace poise {

/// Columns [first, last).
struct ColumnRun {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Where solved columns go: those of several processes to the first one and, with a checkpoint, each part to
/// disk as soon as all of its columns are there, whoever solved them.
class FinishedColumns {
 public:
  /// `checkpoint`: null, or for a single solution; the first process' alone is read and written. `processes`:
  /// null for one. All must outlive it.
  FinishedColumns(std::vector<NeighbourSolution>& solutions, const NeighbourCheckpoint* checkpoint,
                  Processes* processes);

  /// Takes over the columns of the checkpoint; returns which of the others this process solves. Every process
  /// calls it.
  std::vector<ColumnRun> begin(int threads);
  /// How many the checkpoint had; known to the first process.
  [[nodiscard]] std::int64_t resumed() const { return resumed_; }

  /// These columns of one part are solved.
  void add(ColumnRun run);
  /// The first process returns once it has all columns. Every process calls it.
  void end();

 private:
  [[nodiscard]] bool first() const { return processes_ == nullptr || processes_->first(); }
  [[nodiscard]] std::string message_of(ColumnRun run) const;
  void take(const std::string& message);
  /// Books the columns, and saves their part if it is whole.
  void book(ColumnRun run);

  std::vector<NeighbourSolution>& solutions_;
  const NeighbourCheckpoint* checkpoint_;
  Processes* processes_;
  std::int64_t resumed_ = 0;
  std::int64_t missing_ = 0;              ///< columns, at the first process
  std::vector<std::int64_t> missing_of_;  ///< the same of each part
};

}  // namespace poise
