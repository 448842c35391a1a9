#include "poise/backend/cpu/row_systems.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <vector>

#include "poise/backend/cpu/row_kernels.hpp"
#include "poise/backend/cpu/row_solver.hpp"
#include "poise/base/pool.hpp"
#include "poise/linalg/dense_kernels.hpp"
#include "poise/linalg/serial_blas.hpp"

namespace poise {
namespace {

/// A tile ends after rows_per_tile rows, or after the row with which it has entries_per_tile entries.
constexpr std::int64_t rows_per_tile = 256;
constexpr std::int64_t entries_per_tile = 8192;

/// The rows that have too many factors to keep a copy of, in groups that are solved together: large groups,
/// because a group reads every block of factors once a pass, but at least one for each thread.
struct LongRows {
  std::int64_t longest;  ///< the most entries of a row whose factors are kept
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> starts = {0};  ///< of the groups in `rows`

  LongRows(CsrView entries, std::int64_t first, std::int64_t last, std::int64_t most_kept, int threads)
      : longest(most_kept) {
    std::int64_t total = 0;
    for (std::int64_t i = first; i < last; ++i) {
      if (entries.row_size(i) <= longest) continue;
      rows.push_back(i);
      total += entries.row_size(i);
    }
    const std::int64_t share = total / std::max(1, threads);
    std::int64_t filled = 0;
    for (std::int64_t k = 0; k < std::ssize(rows); ++k) {
      filled += entries.row_size(rows[k]);
      if (filled < share && k + 1 - starts.back() < rows_per_tile) continue;
      starts.push_back(k + 1);
      filled = 0;
    }
    if (starts.back() < std::ssize(rows)) starts.push_back(std::ssize(rows));
  }
};

}  // namespace

std::vector<std::int64_t> row_tiles(CsrView entries) {
  std::vector<std::int64_t> starts = {0};
  std::int64_t filled = 0;
  for (std::int64_t i = 0; i < entries.rows; ++i) {
    filled += entries.row_size(i);
    if (filled < entries_per_tile && i + 1 - starts.back() < rows_per_tile) continue;
    starts.push_back(i + 1);
    filled = 0;
  }
  if (starts.back() < entries.rows) starts.push_back(entries.rows);
  return starts;
}

RowsSolved RowOutcomes::total() const {
  RowsSolved total;
  for (const std::vector<RowsSolved>* const parts : {&long_rows, &tiles}) {
    for (const RowsSolved& part : *parts) {
      total.explained_before += part.explained_before;
      total.gain += part.gain;
      total.excess_before += part.excess_before;
      total.most_iterations = std::max(total.most_iterations, part.most_iterations);
      total.iterations += part.iterations;
      total.direct_rows += part.direct_rows;
    }
  }
  return total;
}

RowOutcomes solve_tiles(const RowSystems& systems, std::span<const std::int64_t> starts, TileRange tiles,
                        MatrixView<float> y, RowTolerance tolerance, const Execution& execution,
                        RowRoute route, RowCache cache) {
  assert(systems.entries.rows == y.rows && systems.entries.cols == systems.factors.rows);
  assert(systems.factors.cols == y.cols && static_cast<std::int64_t>(systems.sigma.size()) == y.cols);
  const SerialBlas serial;
  const RowSolver solver(systems, y, tolerance, route);
  Pool<SolverScratch> pool([&] { return std::make_unique<SolverScratch>(padded_width(y.cols)); });
  const LongRows long_rows(systems.entries, starts[tiles.first], starts[tiles.last],
                           cache.kept_floats / std::max<std::int64_t>(1, padded_width(y.cols)),
                           execution.threads);
  const std::int64_t groups = std::ssize(long_rows.starts) - 1;
  // A long row has a part of its own: the groups depend on the number of threads, the order of sums must
  // not.
  RowOutcomes parts{std::vector<RowsSolved>(long_rows.rows.size()),
                    std::vector<RowsSolved>(tiles.last - tiles.first)};
  for_each_tile(groups + std::ssize(parts.tiles), execution.threads, [&](std::int64_t k) {
    stop_if_asked(execution.observer);
    const auto scratch = pool.take();
    if (k < groups) {
      const std::int64_t first = long_rows.starts[k];
      const std::int64_t size = long_rows.starts[k + 1] - first;
      solver.solve_together(std::span(long_rows.rows).subspan(first, size), cache.block_floats,
                            execution.observer, *scratch, std::span(parts.long_rows).subspan(first, size));
    } else {
      const std::int64_t tile = k - groups;
      const std::int64_t* const start = &starts[tiles.first + tile];
      for (std::int64_t i = start[0]; i < start[1]; ++i) {
        if (systems.entries.row_size(i) <= long_rows.longest) solver.solve(i, *scratch, parts.tiles[tile]);
      }
    }
  });
  return parts;
}

RowsSolved solve_rows(const RowSystems& systems, MatrixView<float> y, RowTolerance tolerance,
                      const Execution& execution, RowRoute route, RowCache cache) {
  const std::vector<std::int64_t> starts = row_tiles(systems.entries);
  return solve_tiles(systems, starts, {0, std::ssize(starts) - 1}, y, tolerance, execution, route, cache)
      .total();
}

std::vector<RowsChecked> check_tiles(const RowSystems& systems, std::span<const std::int64_t> starts,
                                     TileRange tiles, MatrixView<const float> v, MatrixView<const double> E,
                                     MatrixView<const double> E_inverse, const Execution& execution) {
  const std::int64_t d = v.cols;
  const SerialBlas serial;
  std::vector<RowsChecked> parts(tiles.last - tiles.first);
  const RowKernels kernels = row_kernels();
  Pool<SolverScratch> pool([&] { return std::make_unique<SolverScratch>(padded_width(d)); });
  for_each_tile(std::ssize(parts), execution.threads, [&](std::int64_t tile) {
    stop_if_asked(execution.observer);
    const std::int64_t first = starts[tiles.first + tile];
    const std::int64_t rows = starts[tiles.first + tile + 1] - first;
    Matrix<double> sums(rows, d);
    Matrix<double> y(rows, d);
    RowsChecked& part = parts[tile];
    const auto scratch = pool.take();
    RowIterate& row = scratch->row_at(0);
    scratch->reserve(row_chunk);
    for (std::int64_t k = 0; k < rows; ++k) {
      std::ranges::copy(v.row(first + k), y.row(k).begin());
      std::ranges::copy(v.row(first + k), row.y.begin());
      part.explained += kernels.residual(row_task(systems, first + k), row, scratch->pass);
      std::copy_n(row.sums.begin(), d, sums.row(k).begin());
    }
    if (E.rows > 0) {
      Matrix<double> rotated(rows, d);
      const auto size = static_cast<blasint>(d);
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(rows), size, size, 1,
                  sums.view().data, size, E.data, dense::leading(E), 0, rotated.view().data, size);
      std::swap(sums, rotated);
      rotated = Matrix<double>(rows, d);
      dense::add_product(1.0, y.view(), E_inverse, rotated.view());
      std::swap(y, rotated);
    }
    for (std::int64_t k = 0; k < rows; ++k) {
      const double b = systems.b_of(first + k);
      const double lambda = systems.lambda_of(first + k);
      for (std::int64_t j = 0; j < d; ++j) {
        const double D = b * systems.sigma[j] + lambda;
        const double r = sums(k, j) - D * y(k, j);
        part.explained -= D * y(k, j) * y(k, j);
        if (D > 0) part.excess += r * r / D;
      }
    }
  });
  return parts;
}

RowsChecked total_of(std::span<const RowsChecked> tiles, const RowSystems& systems) {
  RowsChecked total;
  for (const RowsChecked& part : tiles) {
    total.explained += part.explained;
    total.excess += part.excess / systems.lowest;
  }
  return total;
}

RowsChecked check_rows(const RowSystems& systems, MatrixView<const float> v, MatrixView<const double> E,
                       MatrixView<const double> E_inverse, const Execution& execution) {
  const std::vector<std::int64_t> starts = row_tiles(systems.entries);
  const TileRange all{0, std::ssize(starts) - 1};
  return total_of(check_tiles(systems, starts, all, v, E, E_inverse, execution), systems);
}

}  // namespace poise
