#include "poise/model/neighbours/fit.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>

#include "poise/base/error.hpp"
#include "poise/base/pool.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/model/neighbours/finished_columns.hpp"
#include "poise/model/neighbours/gram_blocks.hpp"
#include "poise/model/neighbours/supports.hpp"

namespace poise {
namespace {

constexpr std::int64_t solved_columns_per_tile = 8;

template <class T>
class NeighbourSolver {
 public:
  /// `saved`: columns that are measured and not solved, one a row; none: there are no rows.
  NeighbourSolver(const NeighbourProblem& problem, NeighbourFit& fit, FinishedColumns& finished,
                  CsrView saved, const EarlierColumns* earlier, const Execution& execution)
      : problem_(problem),
        fit_(fit),
        finished_(finished),
        saved_(saved),
        earlier_(earlier),
        execution_(execution),
        watch_(fit.seconds),
        k_(fit.solutions.back().columns.k),
        inverse_diagonal_(inverse_diagonals(problem, execution.threads)),
        ridges_([this] { return std::make_unique<ColumnRidge>(problem_, k_); }) {}

  /// Columns [first, first + count), part by part.
  void solve(std::int64_t first, std::int64_t count, Progress& progress) {
    watch_.book("other");
    NeighbourColumns& widest = fit_.solutions.back().columns;
    const auto supports = std::span(widest.items).subspan(first * k_, count * k_);
    choose_supports(problem_, inverse_diagonal_, first, count, k_, supports, execution_);
    watch_.book("supports");
    gram_.make(problem_, first, count, k_, supports, execution_);
    watch_.book("gram");
    constexpr std::int64_t part = NeighbourCheckpoint::columns_per_part;
    for (std::int64_t begin = first; begin < first + count;) {
      const std::int64_t end = std::min(first + count, (begin / part + 1) * part);
      const Tiling tiling{end - begin, solved_columns_per_tile};
      for_each_tile(tiling.tiles(), execution_.threads, [&](std::int64_t tile) {
        const auto ridge = ridges_.take();
        for (std::int64_t j = begin + tiling.first(tile); j < begin + tiling.last(tile); ++j)
          solve_column(j, j - first, *ridge);
      });
      watch_.book("columns");
      finished_.add({begin, end});
      watch_.book("checkpoint");
      progress.advance(end - begin);
      begin = end;
    }
    fit_.taken = taken_;
  }

 private:
  void solve_column(std::int64_t j, std::int64_t c, ColumnRidge& ridge) {
    const auto support = fit_.solutions.back().columns.support(j);
    ridge.assemble<T>(static_cast<std::int32_t>(j), support, gram_.column(c));
    if (earlier_ != nullptr && take_column(j, ridge)) return;
    ridge.factor(static_cast<std::int32_t>(j));
    if (saved_.rows > 0) return measure_column(j, ridge);
    for (NeighbourSolution& solution : fit_.solutions) {
      const std::int64_t k = solution.columns.k;
      if (&solution != &fit_.solutions.back())
        std::copy_n(support.begin(), k, solution.columns.items.begin() + j * k);
      solution.figures[j] = ridge.solve(std::span(solution.columns.values).subspan(j * k, k));
    }
  }

  /// The column of the earlier model, if it holds and is proven to.
  bool take_column(std::int64_t j, ColumnRidge& ridge) {
    NeighbourSolution& solution = fit_.solutions.back();
    const auto values = std::span(solution.columns.values).subspan(j * k_, k_);
    if (!earlier_->take(j, solution.columns.support(j), values)) return false;
    NeighbourFigures& figures = solution.figures[j];
    figures = ridge.measure(values);
    const double ratio = column_ratio(figures.excess, figures.observed, figures.observed - figures.explained);
    if (!(ratio <= earlier_->tolerance)) return false;
    taken_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  void measure_column(std::int64_t j, ColumnRidge& ridge) {
    NeighbourSolution& solution = fit_.solutions.back();
    const auto values = std::span(solution.columns.values).subspan(j * k_, k_);
    const auto items = saved_.row(j);
    std::size_t found = 0;
    for (std::int64_t p = 0; p < k_; ++p) {
      const auto at = std::ranges::lower_bound(items, solution.columns.support(j)[p]);
      if (at == items.end() || *at != solution.columns.support(j)[p]) continue;
      values[p] = saved_.row_values(j)[at - items.begin()];
      ++found;
    }
    solution.figures[j] = ridge.check(values);
    if (found < items.size()) solution.figures[j].excess = std::numeric_limits<double>::infinity();
  }

  const NeighbourProblem& problem_;
  NeighbourFit& fit_;
  FinishedColumns& finished_;
  CsrView saved_;
  const EarlierColumns* earlier_;
  std::atomic<std::int64_t> taken_ = 0;
  const Execution& execution_;
  Stopwatch watch_;
  std::int64_t k_;
  std::vector<double> inverse_diagonal_;
  GramBlocks<T> gram_;
  Pool<ColumnRidge> ridges_;
};

template <class T>
void solve_all(const NeighbourProblem& problem, NeighbourFit& fit, FinishedColumns& finished,
               std::int64_t block, CsrView saved, const EarlierColumns* earlier, const Execution& execution) {
  const std::vector<ColumnRun> runs = finished.begin(execution.threads);
  fit.resumed = finished.resumed();
  std::int64_t left = 0;
  for (const ColumnRun& run : runs) left += run.last - run.first;
  NeighbourSolver<T> solver(problem, fit, finished, saved, earlier, execution);
  Progress progress(execution.observer, saved.rows > 0 ? "checking" : "solving", left, "columns");
  for (const ColumnRun& run : runs) {
    const Tiling blocks{run.last - run.first, block};
    for (std::int64_t b = 0; b < blocks.tiles(); ++b)
      solver.solve(run.first + blocks.first(b), blocks.last(b) - blocks.first(b), progress);
  }
  finished.end();
}

void solve_or_check(const NeighbourProblem& problem, NeighbourFit& fit, FinishedColumns finished,
                    std::int64_t block, CsrView saved, const EarlierColumns* earlier,
                    const Execution& execution) {
  if (problem.counts_alone()) {
    solve_all<std::uint32_t>(problem, fit, finished, block, saved, earlier, execution);
  } else {
    solve_all<double>(problem, fit, finished, block, saved, earlier, execution);
  }
}

NeighbourSolution empty_solution(const NeighbourProblem& problem, std::int64_t neighbours) {
  const std::int64_t k = std::min(neighbours, problem.most_neighbours());
  const std::int64_t n = problem.items();
  return {{n, k, std::vector<std::int32_t>(n * k), std::vector<float>(n * k)},
          std::vector<NeighbourFigures>(n)};
}

}  // namespace

NeighbourMemory neighbour_memory(CsrView X, const Weights& W, std::int64_t k, int models,
                                 const FullRankOptions& options) {
  constexpr double times_the_model = 6;
  constexpr double at_least = 512e6;       // bytes
  constexpr double arrays = 56;            // bytes an item: figures, diagonals, rows of G
  constexpr double shared_vectors = 1024;  // bytes an item: those of the comparison with the dense optimum
  const auto n = static_cast<double>(X.cols);
  const auto wide = static_cast<double>(std::min(k, X.cols));
  const bool counts_alone = W.a.empty() && !options.with_features();
  const double column =
      (counts_alone ? sizeof(std::uint32_t) : sizeof(double)) * (wide + 1) * (wide + 2) / 2 + 12 * (wide + 1);
  const double model = 8 * n * wide * models;
  const double entries = (W.c.empty() ? 8.0 : 12.0) * static_cast<double>(X.entries());
  const double rest = entries + model + arrays * n + static_cast<double>(feature_bytes(options));
  // Once the blocks are gone, the comparison, and then the model by rows, take their place.
  const double afterwards = std::max(model, shared_vectors * n);
  const double left = std::max(0.0, static_cast<double>(options.memory_limit) - rest);
  const double wanted = std::min(std::max(at_least, times_the_model * model), left);
  NeighbourMemory memory;
  memory.block = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(n, wanted / column)),
                                          std::min(X.cols, NeighbourCheckpoint::columns_per_part),
                                          std::max<std::int64_t>(1, X.cols));
  memory.blocks = Tiling{X.cols, std::max<std::int64_t>(1, memory.block)}.tiles();
  memory.bytes = rest + std::max(afterwards, static_cast<double>(memory.block) * column);
  return memory;
}

NeighbourFit fit_neighbours(const NeighbourProblem& problem, std::span<const std::int64_t> neighbours,
                            std::int64_t block, const Execution& execution,
                            const NeighbourCheckpoint* checkpoint, Processes* processes,
                            const EarlierColumns* earlier) {
  NeighbourFit fit;
  for (const std::int64_t wanted : neighbours) fit.solutions.push_back(empty_solution(problem, wanted));
  solve_or_check(problem, fit, {fit.solutions, checkpoint, processes}, block, {}, earlier, execution);
  return fit;
}

NeighbourCheck check_neighbours(const NeighbourProblem& problem, CsrView B, std::int64_t neighbours,
                                std::int64_t block, const Execution& execution) {
  const Csr columns = transpose(B, execution.threads);
  NeighbourFit fit;
  fit.solutions.push_back(empty_solution(problem, neighbours));
  solve_or_check(problem, fit, {fit.solutions, nullptr, nullptr}, block, columns.view(), nullptr, execution);
  NeighbourCheck check{.solution = std::move(fit.solutions.front())};
  check.elsewhere = std::ranges::count_if(
      check.solution.figures, [](const NeighbourFigures& column) { return std::isinf(column.excess); });
  return check;
}

Certificate support_certificate(std::span<const NeighbourFigures> figures) {
  Certificate certificate;
  double explained = 0;
  for (const NeighbourFigures& column : figures) {
    certificate.absolute += column.excess;
    explained += column.explained;
    certificate.worst_column =
        std::max(certificate.worst_column,
                 column_ratio(column.excess, column.observed, column.observed - column.explained));
  }
  certificate.relative = relative_excess(certificate.absolute, explained);
  certificate.verified_columns = static_cast<std::int64_t>(figures.size());
  return certificate;
}

}  // namespace poise
