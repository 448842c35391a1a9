#include "poise/backend/cpu/row_solver.hpp"

#include <algorithm>
#include <cmath>

#include "poise/backend/row_route.hpp"
#include "poise/linalg/dense_kernels.hpp"

namespace poise {
namespace {

/// The upper triangle of K += sum of c z z', scaled, over the entries whose c has this sign.
void add_entries(const RowTask& task, SolverScratch& scratch, MatrixView<float> K, float sign) {
  scratch.scaled.resize(row_chunk * task.d);
  float* const rows = scratch.scaled.data();
  std::int64_t filled = 0;
  const auto flush = [&] {
    cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, static_cast<blasint>(task.d),
                static_cast<blasint>(filled), sign, rows, static_cast<blasint>(task.d), 1.0F, K.data,
                dense::leading(K));
    filled = 0;
  };
  for (std::int64_t e = 0; e < task.count; ++e) {
    const float size = sign * task.c[e];
    if (!(size > 0)) continue;
    const float root = std::sqrt(size);
    const float* const source = task.factors + task.indices[e] * task.stride;
    float* const row = rows + filled * task.d;
    for (std::int64_t k = 0; k < task.d; ++k) row[k] = root * scratch.scale[k] * source[k];
    if (++filled == row_chunk) flush();
  }
  if (filled > 0) flush();
}

/// y += H^-1 r through D^-1/2 H D^-1/2 = I + sum c (D^-1/2 z)(D^-1/2 z)', whose condition is at most hi /
/// lo for any D. False if float32 cannot factor it.
bool solve_directly(const RowTask& task, RowIterate& row, SolverScratch& scratch) {
  const std::int64_t d = task.d;
  scratch.K.assign(d * d, 0.0F);
  const MatrixView<float> K{scratch.K.data(), d, d, d};
  add_entries(task, scratch, K, 1);
  add_entries(task, scratch, K, -1);
  for (std::int64_t k = 0; k < d; ++k) K(k, k) += 1;
  if (!dense::factor_upper(K)) return false;
  std::vector<float>& x = scratch.pass.z;
  const MatrixView<float> column{x.data(), d, 1, 1};
  for (std::int64_t k = 0; k < d; ++k) x[k] = scratch.scale[k] * row.r[k];
  dense::solve_upper(CblasLeft, CblasTrans, 1.0F, K, column);
  dense::solve_upper(CblasLeft, CblasNoTrans, 1.0F, K, column);
  double gain = 0;
  for (std::int64_t k = 0; k < d; ++k) {
    const float step = scratch.scale[k] * x[k];
    row.y[k] += step;
    gain += static_cast<double>(row.r[k]) * static_cast<double>(step);
  }
  row.scalars.explained += gain;
  row.scalars.steps = 1;
  return true;
}

}  // namespace

std::int64_t padded_width(std::int64_t d) { return (d + row_lane - 1) / row_lane * row_lane; }

RowTask row_task(const RowSystems& systems, std::int64_t i) {
  const std::int64_t begin = systems.entries.offsets[i];
  return {.factors = systems.factors.data,
          .stride = systems.factors.stride,
          .d = systems.factors.cols,
          .width = padded_width(systems.factors.cols),
          .indices = systems.entries.indices.data() + begin,
          .c = systems.c.empty() ? nullptr : systems.c.data() + begin,
          .w = systems.w.data() + begin,
          .count = systems.entries.row_size(i)};
}

RowSolver::RowSolver(const RowSystems& systems, MatrixView<float> y, RowTolerance tolerance, RowRoute route)
    : systems_(systems),
      y_(y),
      relative_(tolerance.relative * systems.lowest),
      absolute_(tolerance.absolute * systems.lowest),
      route_(route),
      kernels_(row_kernels()) {}

void RowSolver::solve(std::int64_t i, SolverScratch& scratch, RowsSolved& total) const {
  RowIterate& row = scratch.row_at(0);
  load(i, row, scratch);
  const RowTask task = prepare(i, scratch);
  scratch.reserve(task.count);
  kernels_.pass_start(task, 0, task.count, RowSource::gather_and_keep, row, scratch.pass);
  bool going = begin(task, row, scratch, total);
  while (going) {
    if (task.c != nullptr) kernels_.pass(task, 0, task.count, RowSource::kept, row, scratch.pass);
    going = step(task, row, scratch);
  }
  finish(i, row, total);
}

void RowSolver::solve_together(std::span<const std::int64_t> rows, std::int64_t block_floats,
                               Observer* observer, SolverScratch& scratch,
                               std::span<RowsSolved> totals) const {
  const std::int64_t factors = systems_.factors.rows;
  const std::int64_t block =
      std::max<std::int64_t>(1, block_floats / std::max<std::int64_t>(1, systems_.factors.stride));
  scratch.reserve(row_chunk);
  std::vector<std::int64_t> active;
  for (std::int64_t k = 0; k < std::ssize(rows); ++k) {
    active.push_back(k);
    load(rows[k], scratch.row_at(k), scratch);
  }
  std::vector<std::int64_t> next(rows.size());
  const auto pass_all = [&](auto pass) {
    stop_if_asked(observer);
    std::ranges::fill(next, 0);
    for (std::int64_t end = block; end < factors + block; end += block) {
      for (const std::int64_t k : active) {
        const RowTask task = row_task(systems_, rows[k]);
        const std::int64_t first = next[k];
        // A chunk belongs to the block of its first entry, so that a row is cut as if it were alone.
        while (next[k] < task.count && (end >= factors || task.indices[next[k]] < end)) next[k] += row_chunk;
        next[k] = std::min(next[k], task.count);
        pass(task, first, next[k], RowSource::gather, scratch.rows[k], scratch.pass);
      }
    }
  };
  const auto keep_if = [&](auto going) {
    std::erase_if(active, [&](std::int64_t k) {
      if (going(prepare(rows[k], scratch), scratch.rows[k], totals[k])) return false;
      finish(rows[k], scratch.rows[k], totals[k]);
      return true;
    });
  };
  pass_all(kernels_.pass_start);
  keep_if([&](const RowTask& task, RowIterate& row, RowsSolved& total) {
    return begin(task, row, scratch, total);
  });
  while (!active.empty()) {
    if (!systems_.c.empty()) pass_all(kernels_.pass);
    keep_if([&](const RowTask& task, RowIterate& row, RowsSolved&) { return step(task, row, scratch); });
  }
}

RowTask RowSolver::prepare(std::int64_t i, SolverScratch& scratch) const {
  set_D(i, scratch);
  RowTask task = row_task(systems_, i);
  task.D = scratch.D.data();
  task.D_inverse = scratch.D_inverse.data();
  return task;
}

void RowSolver::load(std::int64_t i, RowIterate& row, SolverScratch& scratch) const {
  set_D(i, scratch);
  for (std::int64_t k = 0; k < y_.cols; ++k) row.y[k] = scratch.D[k] > 0 ? y_(i, k) : 0.0F;
  std::ranges::fill(row.sums, 0.0);
  row.scalars.explained = 0;
}

void RowSolver::set_D(std::int64_t i, SolverScratch& scratch) const {
  const double b = systems_.b_of(i);
  const double lambda = systems_.lambda_of(i);
  if (b == scratch.set_for_b && lambda == scratch.set_for_lambda) return;
  scratch.set_for_b = b;
  scratch.set_for_lambda = lambda;
  for (std::int64_t k = 0; k < y_.cols; ++k) {
    const auto D = static_cast<float>(b * systems_.sigma[k] + lambda);
    const float inverse = 1 / D;
    const bool usable = D > 0 && std::isfinite(inverse);
    scratch.D[k] = usable ? D : 0.0F;
    scratch.D_inverse[k] = usable ? inverse : 0.0F;
    scratch.scale[k] = std::sqrt(scratch.D_inverse[k]);
  }
}

bool RowSolver::begin(const RowTask& task, RowIterate& row, SolverScratch& scratch, RowsSolved& total) const {
  kernels_.begin(task, row, scratch.pass);
  total.explained_before += row.scalars.explained;
  total.excess_before += row.scalars.rz / systems_.lowest;
  total.gain -= row.scalars.explained;
  if (task.count == 0) {
    // The right-hand side is 0, so 0 is the solution, even if the start meets the tolerance.
    std::ranges::fill(row.y, 0.0F);
    row.scalars.explained = 0;
    return false;
  }
  if (row.scalars.rz <= target(row)) return false;
  if (takes_direct(task, row) && solve_directly(task, row, scratch)) {
    ++total.direct_rows;
    return false;
  }
  return true;
}

bool RowSolver::step(const RowTask& task, RowIterate& row, SolverScratch& scratch) const {
  const std::int64_t limit = std::min<std::int64_t>(2 * std::min(task.d, task.count) + 8, 500);
  return kernels_.step(task, row, scratch.pass) && row.scalars.steps < limit && row.scalars.rz > target(row);
}

void RowSolver::finish(std::int64_t i, const RowIterate& row, RowsSolved& total) const {
  total.gain += row.scalars.explained;
  total.iterations += row.scalars.steps;
  total.most_iterations = std::max<std::int64_t>(total.most_iterations, row.scalars.steps);
  std::copy_n(row.y.data(), y_.cols, y_.row(i).data());
}

double RowSolver::target(const RowIterate& row) const {
  return relative_ * std::max(0.0, row.scalars.explained) + absolute_;
}

bool RowSolver::takes_direct(const RowTask& task, const RowIterate& row) const {
  if (systems_.c.empty() || route_ == RowRoute::conjugate_gradients) return false;
  if (route_ == RowRoute::direct) return true;
  return solved_exactly(task.d, task.count, systems_.highest / systems_.lowest, row.scalars.rz, target(row));
}

}  // namespace poise
