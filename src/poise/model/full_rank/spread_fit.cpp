#include "poise/model/full_rank/spread_fit.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>
#include <utility>

#include "poise/backend/power_start.hpp"
#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/linalg/precision.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/model/full_rank/variant.hpp"
#include "poise/solver/grid_gram.hpp"
#include "poise/solver/spread_inverse.hpp"
#include "poise/solver/spread_sweep.hpp"

namespace poise {

namespace {

/// An estimate from below of the largest eigenvalue, as Backend::invert_spd makes it; `apply` multiplies a
/// vector (items x 1).
template <class Apply>
double largest_eigenvalue_of(std::int64_t n, const Apply& apply) {
  constexpr int steps = 12;
  const std::vector<double> start = power_start(n);
  Matrix<double> x(n, 1);
  std::ranges::copy(start, x.view().data);
  double norm = 1;
  for (int step = 0; step < steps && norm > 0; ++step) {
    for (std::int64_t i = 0; i < n; ++i) x(i, 0) /= norm;
    x = apply(x);
    double squares = 0;
    for (std::int64_t i = 0; i < n; ++i) squares += x(i, 0) * x(i, 0);
    norm = std::sqrt(squares);
  }
  return norm;
}

/// Rows become columns, a tile at a time.
Matrix<float> transposed_columns(const Matrix<float>& columns, int threads) {
  auto result = Matrix<float>::uninitialized(columns.cols(), columns.rows());
  constexpr std::int64_t edge = 64;
  const Tiling items{columns.cols(), edge};
  for_each_tile(items.tiles(), threads, [&](std::int64_t tile) {
    for (std::int64_t first = 0; first < columns.rows(); first += edge) {
      for (std::int64_t j = items.first(tile); j < items.last(tile); ++j) {
        for (std::int64_t k = first; k < std::min(first + edge, columns.rows()); ++k)
          result(j, k) = columns(k, j);
      }
    }
  });
  return result;
}

/// Iterations and their errors of all processes.
void join_iterations(FullRankFit& result, const ColumnShare& share) {
  result.iterations = static_cast<std::int64_t>(share.largest(static_cast<double>(result.iterations)));
  result.worst_column.resize(static_cast<std::size_t>(share.largest(std::ssize(result.worst_column))), 0.0);
  for (double& ratio : result.worst_column) ratio = share.largest(ratio);
}

class SpreadFit {
 public:
  SpreadFit(const ColumnData& data, const FullRankOptions& options, const ColumnShare& share,
            Backend& backend, const Execution& execution, DenseCheckpoint* checkpoint, FullRankFit& result)
      : data_(data),
        problem_(data.problem()),
        options_(options),
        share_(share),
        backend_(backend),
        execution_(execution),
        checkpoint_(checkpoint),
        result_(result) {}

  /// Tries one precision; false if it cannot hold the inverse.
  template <class T>
  bool run() {
    Stopwatch watch(result_.seconds);
    const bool saved = checkpoint_ != nullptr && checkpoint_->has_inverse<T>();
    Resident<T> rows = saved ? saved_rows<T>() : inverse_rows<T>(watch);
    if (rows.cols() != problem_.items()) return false;
    SpreadInverse<T> A_inverse(rows, share_, backend_, checkpoint_ ? checkpoint_->news() : nullptr);
    if (!saved && !well_conditioned<T>(A_inverse)) return false;
    watch.book("inverse");
    if (checkpoint_ != nullptr && !saved) {
      join_iterations(result_, share_);
      checkpoint_->save_inverse<T>(std::as_const(rows).view(), backend_, result_);
    }
    watch.book("checkpoint");
    if (problem_.weighted()) A_inverse.hold_on_host(rows);
    watch.book("inverse rows");
    const ColumnChecker<T> checker(data_, A_inverse, {});
    // Without weights of items one process solves some of these columns by Woodbury's identity.
    const ColumnSolver<T> solver(checker, options_.tolerance,
                                 !problem_.W->c.empty() && problem_.W->b.empty());
    const FullRankWork<T> work{
        problem_, options_,   data_, checker, solver,  measured_whole(problem_, options_),
        backend_, execution_, watch, result_, &share_, checkpoint_};
    FullRankVariant<T> variant(work, options_.zero_diagonal, {});
    watch.book("data");
    problem_.weighted() ? iterate(work, variant) : take_columns(work, rows, variant);
    rows = {};
    A_inverse.release();
    FullRankSolution solution = variant.take();
    solution.B = transposed_columns(std::exchange(solution.B, {}), execution_.threads);
    result_.solutions.push_back(std::move(solution));
    watch.book("columns");
    return true;
  }

 private:
  /// The rows of A^-1 of this process' columns; none if A is not positive definite.
  template <class T>
  Resident<T> inverse_rows(Stopwatch& watch) {
    std::vector<double> shift = problem_.l;
    for (double& entry : shift) entry /= problem_.b_bar;
    GridTiles<T> tiles(share_);
    fill_gram_tiles(problem_.X, data_.users_of(), problem_.W->a, shift, tiles, execution_);
    watch.book("gram");
    const bool inverted = invert_tiles(tiles, share_.processes(), execution_, &backend_);
    watch.book("inverse");
    Resident<T> rows;
    if (inverted) rows = rows_of_tiles(tiles, share_, backend_);
    watch.book("inverse rows");
    return rows;
  }

  template <class T>
  Resident<T> saved_rows() {
    Resident<T> rows(backend_, std::ssize(share_.own()), problem_.items());
    checkpoint_->load_inverse<T>(rows.view(), backend_, result_);
    return rows;
  }

  template <class T>
  bool well_conditioned(const SpreadInverse<T>& A_inverse) {
    const SharedSystem& A = data_.shared_system();
    ComputedInverse<T> P(A_inverse);
    const double largest = largest_eigenvalue_of(problem_.items(), [&](const Matrix<double>& x) {
      Matrix<double> Ax = A.background(x);
      for (std::int64_t i = 0; i < x.rows(); ++i) Ax(i, 0) += A.least(i) * x(i, 0);
      return Ax;
    });
    result_.condition = largest * largest_eigenvalue_of(problem_.items(),
                                                        [&](const Matrix<double>& x) { return P.apply(x); });
    return std::isfinite(result_.condition) &&
           (!std::is_same_v<T, float> || result_.condition <= float32_condition);
  }

  /// W = 1, or user weights alone: h_i = A^-1 e_i; in float32 the columns take the place of A^-1.
  template <class T>
  void take_columns(const FullRankWork<T>& work, Resident<T>& rows, FullRankVariant<T>& variant) {
    result_.direct_columns = problem_.items();
    constexpr bool in_place = std::is_same_v<T, float>;
    if (!in_place) variant.columns() = Resident<float>(backend_, rows.rows(), rows.cols());
    work.for_each_block(share_.own(), "solving", [&](std::span<const std::int32_t> part) {
      const std::int64_t first = share_.place(part.front());
      const auto width = static_cast<std::int64_t>(part.size());
      const Out<T> h = rows.view().block(first, width);
      if constexpr (in_place) {
        variant.add(part, h, h, "columns");
      } else {
        variant.add(part, h, variant.columns().view().block(first, width), "columns");
      }
    });
    if constexpr (in_place) {
      variant.columns() = std::move(rows);
      std::vector<double> p = work.checker.inverse_diagonal();
      for (std::int64_t i = 0; i < problem_.items() && !variant.zero_diagonal(); ++i)
        p[i] = 1 / problem_.l[i];
      InverseOfColumns P({std::as_const(variant.columns()).view(), &share_}, std::move(p), backend_);
      variant.certify(P);
    } else {
      ComputedInverse<T> P(work.checker.A_inverse());
      variant.certify(P);
    }
  }

  template <class T>
  void iterate(const FullRankWork<T>& work, FullRankVariant<T>& variant) {
    result_.iterated_columns = problem_.items();
    variant.columns() = Resident<float>(backend_, std::ssize(share_.own()), problem_.items());
    variant.expect_iterated_columns();
    const std::vector<std::int32_t> left = take_saved(work, variant);
    if (checkpoint_ != nullptr) checkpoint_->keep(sizeof(T));
    work.for_each_block(left, "solving", [&](std::span<const std::int32_t> part) {
      if (checkpoint_ != nullptr && checkpoint_->stops()) return;
      Resident<T> beside;
      const Out<T> h = room_for<T>(part, variant.columns(), beside);
      IterationTrace trace;
      trace.iterations = work.solver.solve(part, h, trace.worst);
      add_trace(result_, trace);
      work.watch.book("iterations");
      variant.add_block(part, h, "iterations", false, trace);
    });
    work.checker.A_inverse().finish();
    if (checkpoint_ != nullptr) checkpoint_->end();
    work.watch.book("others' iterations");
    ComputedInverse<T> P(work.checker.A_inverse());
    variant.certify(P);
  }

  /// Where a block is solved: in the place of its columns of B, unless these are apart or of another
  /// precision.
  template <class T>
  Out<T> room_for(std::span<const std::int32_t> part, Resident<float>& columns, Resident<T>& beside) const {
    const std::int64_t first = share_.place(part.front());
    const auto count = static_cast<std::int64_t>(part.size());
    if constexpr (std::is_same_v<T, float>) {
      if (share_.place(part.back()) == first + count - 1) return columns.view().block(first, count);
    }
    beside = Resident<T>(backend_, count, problem_.items());
    return beside.view();
  }

  /// Takes over the columns of a checkpoint; returns the others of this process.
  template <class T>
  std::vector<std::int32_t> take_saved(const FullRankWork<T>& work, FullRankVariant<T>& variant) {
    std::vector<char> known(problem_.items(), 0);
    if (checkpoint_ != nullptr)
      checkpoint_->load_columns<T>([&](const SolvedColumns& columns) {
        variant.restore(columns);
        for (const std::int32_t i : columns.items) known[i] = 1;
      });
    work.watch.book("checkpoint");
    std::vector<std::int32_t> left;
    std::ranges::copy_if(share_.own(), std::back_inserter(left),
                         [&](std::int32_t i) { return known[i] == 0; });
    return left;
  }

  const ColumnData& data_;
  const ColumnProblem& problem_;
  const FullRankOptions& options_;
  const ColumnShare& share_;
  Backend& backend_;
  const Execution& execution_;
  DenseCheckpoint* checkpoint_;
  FullRankFit& result_;
};

}  // namespace

FullRankFit fit_full_rank_spread(CsrView X, const Weights& W, const FullRankOptions& options,
                                 const ColumnShare& share, Backend& backend, const Execution& execution,
                                 DenseCheckpoint* checkpoint) {
  validate(options);
  const int processes = share.processes().size();
  check_spread_memory(X, W, options.memory_limit, processes);
  if (backend.traits().own_memory) check_spread_gpu_memory(X, processes, backend.memory_bytes());
  FullRankFit result;
  Stopwatch watch(result.seconds);
  ColumnProblem problem = make_column_problem(X, W, full_rank_lambda(X, options), nullptr, execution.threads);
  problem.columns.hold_once(share.processes());
  ColumnData data(problem, backend, execution);
  data.hold_users_once(share.processes());
  const Pin support = backend.pin(support_of(problem.X));
  watch.book("transpose");
  SpreadFit fit(data, options, share, backend, execution, checkpoint, result);
  // What reached float64 once needs no float32.
  if (checkpoint == nullptr || !checkpoint->has_inverse<double>()) fit.run<float>();
  if (result.solutions.empty() || !result.solutions.front().good()) {
    const std::uint64_t needed = spread_full_rank_memory(X, !W.uniform(), true, processes);
    if (needed <= options.memory_limit) {
      std::vector<FullRankSolution> reached = std::exchange(result.solutions, {});
      result.float64 = fit.run<double>();
      if (!result.float64) result.solutions = std::move(reached);
    } else if (result.solutions.empty()) {
      const auto [needed_text, limit] =
          compared_bytes(static_cast<double>(needed), static_cast<double>(options.memory_limit));
      fail(ErrorKind::resources,
           "this problem (condition {:.1e}) needs float64, and so {} in each process, where the memory limit "
           "is {}; "
           "start more processes, or raise {} or {}",
           result.condition, needed_text, limit, "memory-limit"_p, "lambda"_p);
    }
    if (result.solutions.empty()) fail_as_singular(result.condition);
    refuse_nonsense(result.solutions.front(), X, W);
  }
  join_iterations(result, share);
  return result;
}

std::uint64_t spread_full_rank_memory(CsrView X, bool weighted, bool float64, int processes) {
  const auto n = static_cast<std::uint64_t>(X.cols);
  const auto users = static_cast<std::uint64_t>(X.rows);
  // The rows of A^-1 beside the tiles they come from, then beside B.
  const std::uint64_t own = n / static_cast<std::uint64_t>(processes) + column_tile(X.cols, processes);
  const std::uint64_t matrices = (float64 ? 16 : 8) * n * own;
  const std::uint64_t width = spread_block(X.cols, processes);
  const std::uint64_t blocks = (weighted ? 10 : 2) * (float64 ? 2 : 1) * sizeof(float) * width * n;
  const std::uint64_t panels =
      2 * (float64 ? SpreadInverse<double>::panel_bytes(X.cols) : SpreadInverse<float>::panel_bytes(X.cols));
  // A dozen vectors for each of 32 probes, and one of the others (ColumnCertificate).
  const std::uint64_t probes = 17 * 32 * sizeof(double) * n;
  // With weights 20 bytes of each entry in its own columns.
  const std::uint64_t entries = (weighted ? 12 + 20 / static_cast<std::uint64_t>(processes) : 8) *
                                static_cast<std::uint64_t>(X.entries());
  return matrices + std::max(blocks + panels, probes) + 128 * users * sizeof(float) + entries;
}

std::uint64_t spread_gpu_memory(std::int64_t items, int processes) {
  const auto n = static_cast<std::uint64_t>(items);
  const std::uint64_t own =
      n / static_cast<std::uint64_t>(processes) + static_cast<std::uint64_t>(column_tile(items, processes));
  return 2 * sizeof(float) * n * own + gpu_block_bytes(items);
}

void check_spread_gpu_memory(CsrView X, int processes, std::uint64_t gpu_memory) {
  const auto needed = static_cast<double>(spread_gpu_memory(X.cols, processes));
  const auto there = static_cast<double>(gpu_memory);
  if (needed <= there) return;
  const auto [needed_text, there_text] = compared_bytes(needed, there);
  fail(ErrorKind::resources,
       "a full-rank model of {} items by {} processes needs about {} of each one's GPU, whose memory is {}; "
       "start more processes, each with a GPU, or use {} cpu",
       X.cols, processes, needed_text, there_text, "device"_p);
}

void check_spread_memory(CsrView X, const Weights& W, std::uint64_t memory_limit, int processes) {
  constexpr int most_processes = 1 << 16;
  const auto needed = [&](int count) { return spread_full_rank_memory(X, !W.uniform(), false, count); };
  if (needed(processes) <= memory_limit) return;
  int enough = processes;
  while (enough < most_processes && needed(enough) > memory_limit) enough += std::max(1, enough / 16);
  const auto [needed_text, limit] =
      compared_bytes(static_cast<double>(needed(processes)), static_cast<double>(memory_limit));
  if (enough < most_processes)
    fail(ErrorKind::resources,
         "a full-rank model of {} items needs {} in each of {} processes and the memory limit is {}; {} "
         "processes "
         "would do, or raise {}, or give {}, which holds nothing of items x items",
         X.cols, needed_text, processes, limit, enough, "memory-limit"_p, "neighbours"_p);
  fail(ErrorKind::resources,
       "a full-rank model of {} items needs {} in each of {} processes and the memory limit is {}; raise {}, "
       "or give "
       "{}, which holds nothing of items x items",
       X.cols, needed_text, processes, limit, "memory-limit"_p, "neighbours"_p);
}

}  // namespace poise
