#include "poise/solver/row_systems.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "poise/backend/cpu/dense_kernels.hpp"
#include "poise/backend/cpu/serial_blas.hpp"
#include "poise/solver/row_kernels.hpp"

namespace poise {
namespace {

/// A tile ends after that many rows, or after the row that fills it with so many entries.
constexpr std::int64_t rows_per_tile = 256;
constexpr std::int64_t entries_per_tile = 8192;
/// Rows whose factors fill more than that (in floats) are gathered anew at each step.
constexpr std::int64_t kept_floats = std::int64_t{1} << 21;
/// One operation of a step of conjugate gradients, and of a small factorization, in operations of a matrix
/// product.
constexpr double step_cost = 2.5;
constexpr double factor_cost = 3;

std::int64_t padded(std::int64_t d) { return (d + row_lane - 1) / row_lane * row_lane; }

std::vector<std::int64_t> tile_starts(CsrView entries) {
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

struct Scratch {
  RowScratch row;
  std::vector<float> D;
  std::vector<float> D_inverse;
  std::vector<float> scale;  ///< of the direct route: D^-1/2
  std::vector<float> K;
  double set_for_b = -1;
  double set_for_lambda = -1;
};

/// Scratch memory that threads hand to each other, so that a tile need not ask the system for its own.
class ScratchPool {
 public:
  explicit ScratchPool(std::int64_t width) : width_(width) {}

  std::unique_ptr<Scratch> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto scratch = std::move(free_.back());
        free_.pop_back();
        return scratch;
      }
    }
    auto scratch = std::make_unique<Scratch>();
    for (auto* vector : {&scratch->row.y, &scratch->row.r, &scratch->row.z, &scratch->row.p, &scratch->row.Hp,
                         &scratch->row.run, &scratch->D, &scratch->D_inverse, &scratch->scale})
      vector->assign(width_, 0.0F);
    scratch->row.sums.assign(width_, 0.0);
    return scratch;
  }
  void give(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::int64_t width_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

/// How many steps conjugate gradients are reckoned to take from rz to the target: half of Chebyshev's bound,
/// which they beat by that much, for the eigenvalues of D^-1 H lie in clusters.
double expected_steps(const RowSystems& systems, double rz, double target) {
  const double condition = systems.highest / systems.lowest;
  return 1 +
         std::sqrt(condition) * std::log(2 * std::sqrt(std::max(1.0, rz / std::max(target, 1e-14 * rz)))) / 4;
}

/// Row i without its D.
RowTask task_of(const RowSystems& systems, std::int64_t i, std::int64_t width) {
  const std::int64_t begin = systems.entries.offsets[i];
  return {.factors = systems.factors.data,
          .stride = systems.factors.stride,
          .d = systems.factors.cols,
          .width = width,
          .indices = systems.entries.indices.data() + begin,
          .c = systems.c.empty() ? nullptr : systems.c.data() + begin,
          .w = systems.w.data() + begin,
          .count = systems.entries.row_size(i)};
}

class RowSolver {
 public:
  RowSolver(const RowSystems& systems, MatrixView<float> y, RowTolerance tolerance, RowRoute route)
      : systems_(systems),
        y_(y),
        relative_(tolerance.relative * systems.lowest),
        absolute_(tolerance.absolute * systems.lowest),
        route_(route),
        width_(padded(y.cols)),
        kernels_(row_kernels()) {}

  void solve(std::int64_t i, Scratch& scratch, RowsSolved& total) const {
    RowScratch& row = scratch.row;
    const std::int64_t d = y_.cols;
    set_D(i, scratch);
    for (std::int64_t k = 0; k < d; ++k) row.y[k] = scratch.D[k] > 0 ? y_(i, k) : 0.0F;
    const std::int64_t count = systems_.entries.row_size(i);
    RowTask task = task_of(systems_, i, width_);
    task.D = scratch.D.data();
    task.D_inverse = scratch.D_inverse.data();
    const bool keep = count * width_ <= kept_floats;
    const auto needed = static_cast<std::size_t>((keep ? std::max(count, row_chunk) : row_chunk) * width_);
    if (row.gathered.size() < needed) row.gathered.resize(needed);
    RowState state = kernels_.start(task, row, keep);
    const double before = state.explained;
    total.explained_before += before;
    total.excess_before += state.rz / systems_.lowest;
    if (count == 0) {
      // Nothing pulls at the row, so 0 is its solution, whatever tolerance it may have met.
      total.gain -= before;
      std::ranges::fill(y_.row(i), 0.0F);
      return;
    }
    const double target = relative_ * std::max(0.0, state.explained) + absolute_;
    const bool done = state.rz <= target;
    const bool direct = !done && takes_direct(count, expected_steps(systems_, state.rz, target));
    if (direct && solve_directly(task, scratch, state)) {
      ++total.direct_rows;
    } else if (!done) {
      const auto limit = static_cast<int>(std::min<std::int64_t>(2 * std::min(d, count) + 8, 500));
      // The direct route gathers into the same memory.
      kernels_.iterate(task, row, keep && !direct, relative_, absolute_, limit, state);
    }
    total.gain += state.explained - before;
    total.iterations += state.iterations;
    total.most_iterations = std::max<std::int64_t>(total.most_iterations, state.iterations);
    std::copy_n(row.y.data(), d, y_.row(i).data());
  }

 private:
  [[nodiscard]] bool takes_direct(std::int64_t count, double steps) const {
    if (systems_.c.empty() || route_ == RowRoute::conjugate_gradients) return false;
    if (route_ == RowRoute::direct) return true;
    const auto d = static_cast<double>(y_.cols);
    const auto size = static_cast<double>(count);
    steps = std::min(steps, std::min(d, size) + 1);
    return size * d * d + factor_cost * d * d * d / 3 < step_cost * steps * 4 * size * d;
  }

  void set_D(std::int64_t i, Scratch& scratch) const {
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

  /// y += H^-1 r through D^-1/2 H D^-1/2 = I + sum c (D^-1/2 z)(D^-1/2 z)', whose condition is at most hi /
  /// lo whatever D's is. False where float32 cannot factor it.
  bool solve_directly(const RowTask& task, Scratch& scratch, RowState& state) const {
    const std::int64_t d = task.d;
    scratch.K.assign(d * d, 0.0F);
    const MatrixView<float> K{scratch.K.data(), d, d, d};
    add_entries(task, scratch, K, 1);
    add_entries(task, scratch, K, -1);
    for (std::int64_t k = 0; k < d; ++k) K(k, k) += 1;
    if (!dense::factor_upper(K)) return false;
    RowScratch& row = scratch.row;
    const MatrixView<float> x{row.p.data(), d, 1, 1};
    for (std::int64_t k = 0; k < d; ++k) row.p[k] = scratch.scale[k] * row.r[k];
    dense::solve_upper(CblasLeft, CblasTrans, 1.0F, K, x);
    dense::solve_upper(CblasLeft, CblasNoTrans, 1.0F, K, x);
    double gain = 0;
    for (std::int64_t k = 0; k < d; ++k) {
      const float step = scratch.scale[k] * row.p[k];
      row.y[k] += step;
      gain += static_cast<double>(row.r[k]) * static_cast<double>(step);
    }
    state.explained += gain;
    state.iterations = 1;
    return true;
  }

  /// The upper triangle of K += sum of c z z', scaled, over the entries whose c has this sign.
  static void add_entries(const RowTask& task, Scratch& scratch, MatrixView<float> K, float sign) {
    float* const rows = scratch.row.gathered.data();
    std::int64_t filled = 0;
    const auto flush = [&] {
      cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, static_cast<blasint>(task.d),
                  static_cast<blasint>(filled), sign, rows, static_cast<blasint>(task.width), 1.0F, K.data,
                  dense::leading(K));
      filled = 0;
    };
    for (std::int64_t e = 0; e < task.count; ++e) {
      const float size = sign * task.c[e];
      if (!(size > 0)) continue;
      const float root = std::sqrt(size);
      const float* const source = task.factors + task.indices[e] * task.stride;
      float* const row = rows + filled * task.width;
      for (std::int64_t k = 0; k < task.d; ++k) row[k] = root * scratch.scale[k] * source[k];
      if (++filled == row_chunk) flush();
    }
    if (filled > 0) flush();
  }

  const RowSystems& systems_;
  MatrixView<float> y_;
  double relative_;
  double absolute_;
  RowRoute route_;
  std::int64_t width_;
  RowKernels kernels_;
};

}  // namespace

RowsSolved solve_rows(const RowSystems& systems, MatrixView<float> y, RowTolerance tolerance,
                      const Execution& execution, RowRoute route) {
  assert(systems.entries.rows == y.rows && systems.entries.cols == systems.factors.rows);
  assert(systems.factors.cols == y.cols && static_cast<std::int64_t>(systems.sigma.size()) == y.cols);
  const SerialBlas serial;
  const RowSolver solver(systems, y, tolerance, route);
  ScratchPool pool(padded(y.cols));
  const std::vector<std::int64_t> starts = tile_starts(systems.entries);
  const auto tiles = static_cast<std::int64_t>(starts.size()) - 1;
  std::vector<RowsSolved> parts(tiles);
  for_each_tile(tiles, execution.threads, [&](std::int64_t tile) {
    stop_if_asked(execution.observer);
    auto scratch = pool.take();
    for (std::int64_t i = starts[tile]; i < starts[tile + 1]; ++i) solver.solve(i, *scratch, parts[tile]);
    pool.give(std::move(scratch));
  });
  RowsSolved total;
  for (const RowsSolved& part : parts) {
    total.explained_before += part.explained_before;
    total.gain += part.gain;
    total.excess_before += part.excess_before;
    total.most_iterations = std::max(total.most_iterations, part.most_iterations);
    total.iterations += part.iterations;
    total.direct_rows += part.direct_rows;
  }
  return total;
}

RowsChecked check_rows(const RowSystems& systems, MatrixView<const float> v, MatrixView<const double> E,
                       MatrixView<const double> E_inverse, const Execution& execution) {
  const std::int64_t d = v.cols;
  const SerialBlas serial;
  const std::vector<std::int64_t> starts = tile_starts(systems.entries);
  const auto tiles = static_cast<std::int64_t>(starts.size()) - 1;
  std::vector<RowsChecked> parts(tiles);
  const RowKernels kernels = row_kernels();
  ScratchPool pool(padded(d));
  for_each_tile(tiles, execution.threads, [&](std::int64_t tile) {
    stop_if_asked(execution.observer);
    const std::int64_t first = starts[tile];
    const std::int64_t rows = starts[tile + 1] - first;
    Matrix<double> sums(rows, d);
    Matrix<double> y(rows, d);
    RowsChecked& part = parts[tile];
    auto scratch = pool.take();
    RowScratch& row = scratch->row;
    if (row.gathered.empty()) row.gathered.resize(row_chunk * padded(d));
    for (std::int64_t k = 0; k < rows; ++k) {
      std::ranges::copy(v.row(first + k), y.row(k).begin());
      std::ranges::copy(v.row(first + k), row.y.begin());
      part.explained += kernels.residual(task_of(systems, first + k, padded(d)), row);
      std::copy_n(row.sums.begin(), d, sums.row(k).begin());
    }
    pool.give(std::move(scratch));
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
  RowsChecked total;
  for (const RowsChecked& part : parts) {
    total.explained += part.explained;
    total.excess += part.excess / systems.lowest;
  }
  return total;
}

}  // namespace poise
