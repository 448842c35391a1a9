#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/cpu/row_kernels.hpp"
#include "poise/backend/cpu/row_systems.hpp"
#include "poise/base/observer.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// d as a multiple of row_lane.
std::int64_t padded_width(std::int64_t d);

/// Row i of the systems as the kernels see it, without its D.
RowTask row_task(const RowSystems& systems, std::int64_t i);

/// Memory of one thread, kept from row to row.
struct SolverScratch {
  RowScratch pass;
  std::vector<RowIterate> rows;  ///< one, or those that are solved together
  std::vector<float> D;
  std::vector<float> D_inverse;
  std::vector<float> scale;   ///< of the direct route: D^-1/2
  std::vector<float> scaled;  ///< of the direct route: factors times D^-1/2
  std::vector<float> K;
  double set_for_b = -1;
  double set_for_lambda = -1;

  explicit SolverScratch(std::int64_t width)
      : pass(width), D(width, 0.0F), D_inverse(width, 0.0F), scale(width, 0.0F) {}

  void reserve(std::int64_t entries) {
    const std::size_t needed = std::max(entries, row_chunk) * D.size();
    if (pass.gathered.size() < needed) pass.gathered.resize(needed);
  }
  RowIterate& row_at(std::int64_t k) {
    while (std::ssize(rows) <= k) rows.emplace_back(std::ssize(D));
    return rows[k];
  }
};

/// Solves rows of y from where they are, each by the route that counts fewer operations. Both ways to solve
/// give a row the same bytes.
class RowSolver {
 public:
  RowSolver(const RowSystems& systems, MatrixView<float> y, RowTolerance tolerance, RowRoute route);

  /// One row, whose factors are gathered once and kept; adds to `total`.
  void solve(std::int64_t i, SolverScratch& scratch, RowsSolved& total) const;

  /// Rows side by side, totals[k] for rows[k]: a pass goes through blocks of factors, each of which stays in
  /// a cache while all rows read from it. 20 d bytes a row.
  void solve_together(std::span<const std::int64_t> rows, std::int64_t block_floats, Observer* observer,
                      SolverScratch& scratch, std::span<RowsSolved> totals) const;

 private:
  RowTask prepare(std::int64_t i, SolverScratch& scratch) const;
  void load(std::int64_t i, RowIterate& row, SolverScratch& scratch) const;
  void set_D(std::int64_t i, SolverScratch& scratch) const;
  /// After the first pass. False if the row needs no steps of conjugate gradients.
  bool begin(const RowTask& task, RowIterate& row, SolverScratch& scratch, RowsSolved& total) const;
  /// After a later pass. False when the row is solved.
  bool step(const RowTask& task, RowIterate& row, SolverScratch& scratch) const;
  void finish(std::int64_t i, const RowIterate& row, RowsSolved& total) const;
  [[nodiscard]] double target(const RowIterate& row) const;
  [[nodiscard]] bool takes_direct(const RowTask& task, const RowIterate& row) const;

  const RowSystems& systems_;
  MatrixView<float> y_;
  double relative_;
  double absolute_;
  RowRoute route_;
  RowKernels kernels_;
};

}  // namespace poise
