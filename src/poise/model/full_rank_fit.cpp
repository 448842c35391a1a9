#include "poise/model/full_rank_fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <utility>

#include "poise/backend/resident.hpp"
#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/model/full_rank_columns.hpp"
#include "poise/model/full_rank_cost.hpp"
#include "poise/model/full_rank_inverse.hpp"
#include "poise/solver/column_certificate.hpp"
#include "poise/solver/woodbury.hpp"

namespace poise {

namespace {

/// Memory for n x n numbers, mapped by threads of its own: to touch gigabytes for the first time takes
/// longer than to fill them.
std::future<Matrix<float>> room_for(std::int64_t n, int threads) {
  return std::async(std::launch::async, [n, threads] {
    constexpr std::int64_t page = 4096 / sizeof(float);
    constexpr std::int64_t pages_per_tile = 1 << 14;
    constexpr int most_threads = 4;  // the others have data to prepare
    Matrix<float> room = Matrix<float>::uninitialized(n, n);
    const Tiling tiling{n * n, pages_per_tile * page};
    for_each_tile(tiling.tiles(), std::min(threads, most_threads), [&](std::int64_t tile) {
      for (std::int64_t at = tiling.first(tile); at < tiling.last(tile); at += page) room.view().data[at] = 0;
    });
    return room;
  });
}

/// One of the two models while it is made, and what is known of its columns.
struct Variant {
  bool zero_diagonal;
  std::future<Matrix<float>> room = {};  // on the host, while a GPU computes
  Resident<float> columns = {};          // row i is B_:i
  std::optional<ColumnCertificate> proof = {};
  std::vector<double> objectives = {};  // of each column, where it was measured through all data
  double objective = 0;
  double objective_error = 0;
  double observed = 0;
};

/// The fit in one precision of the inverse.
template <class T>
class FullRankSolver {
 public:
  FullRankSolver(const ColumnProblem& problem, const FullRankOptions& options, FullRankBasis& basis,
                 bool keep, Backend& backend, const Execution& execution, FullRankFit& result)
      : problem_(problem),
        options_(options),
        basis_(basis),
        keep_(keep),
        backend_(backend),
        execution_(execution),
        result_(result),
        watch_(result.seconds),
        n_(problem.items()),
        measured_whole_(measured_whole(problem, options)),
        A_inverse_(basis.inverse<T>().matrix) {}

  /// A^-1; false when this precision is not up to it.
  bool invert() { return invert_shared_system<T>(problem_, basis_, backend_, watch_, result_.condition); }

  void solve() {
    if (options_.unconstrained) variants_.push_back({.zero_diagonal = false});
    if (options_.zero_diagonal) variants_.push_back({.zero_diagonal = true});
    for (Variant& variant : variants_) {
      if (!backend_.on_host()) variant.room = room_for(n_, execution_.threads);
    }
    const ColumnSolver<T> solver(problem_, A_inverse_.view(), basis_.gram().view(), options_.tolerance,
                                 backend_, execution_);
    for (Variant& variant : variants_) {
      variant.objectives.assign(n_, 0.0);
      variant.proof.emplace(solver.shared_system(), solver.observed(), variant.zero_diagonal, backend_,
                            execution_);
    }
    watch_.book("data");
    if (problem_.weighted()) {
      solve_weighted(solver);
    } else {
      solve_unweighted(solver);
    }
    for (Variant& variant : variants_) finish(variant);
  }

 private:
  using Items = std::vector<std::int32_t>;

  [[nodiscard]] Items all_items() const {
    Items items(n_);
    std::iota(items.begin(), items.end(), 0);
    return items;
  }

  /// W = 1, or user weights alone: h_i = A^-1 e_i. The last model takes the place of A^-1, which its
  /// certificate then finds in it.
  void solve_unweighted(const ColumnSolver<T>& solver) {
    const Items items = all_items();
    result_.direct_columns = n_;
    for (std::size_t v = 0; v < variants_.size(); ++v) {
      Variant& variant = variants_[v];
      const bool in_place = std::is_same_v<T, float> && !keep_ && v + 1 == variants_.size();
      if (!in_place) variant.columns = Resident<float>(backend_, n_, n_);
      for_each_block(items, "solving", [&](std::span<const std::int32_t> part) {
        const auto width = static_cast<std::int64_t>(part.size());
        const MatrixView<T> rows = A_inverse_.view().block(part.front(), width);
        const std::vector<double> own = multipliers(solver, variant, part, rows);
        MatrixView<float> to;
        if constexpr (std::is_same_v<T, float>) to = rows;
        if (!in_place) to = variant.columns.view().block(part.front(), width);
        solver.to_columns(part, variant.zero_diagonal, rows, to);
        watch_.book("columns");
        take_note(solver, variant, part, to, own);
      });
      if constexpr (std::is_same_v<T, float>) {
        if (in_place) variant.columns = std::move(A_inverse_);
      }
      if constexpr (std::is_same_v<T, float>) {
        std::vector<double> p = solver.inverse_diagonal();
        for (std::int64_t i = 0; i < n_ && !variant.zero_diagonal; ++i) p[i] = 1 / problem_.l[i];
        InverseOfColumns P(variant.columns.view(), std::move(p), backend_);
        certify(solver, variant, P);
      } else {
        ComputedInverse<T> P(A_inverse_.view(), backend_);
        certify(solver, variant, P);
      }
    }
  }

  void solve_weighted(const ColumnSolver<T>& solver) {
    for (Variant& variant : variants_) variant.columns = Resident<float>(backend_, n_, n_);
    Items direct;
    Items iterated;
    choose_routes(direct, iterated);
    solve_by_woodbury(solver, direct, iterated);
    result_.direct_columns = static_cast<std::int64_t>(direct.size());
    result_.iterated_columns = static_cast<std::int64_t>(iterated.size());
    for (Variant& variant : variants_) {
      if (!iterated.empty()) variant.proof->expect_iterated_columns();
    }
    iterate(solver, iterated);
    ComputedInverse<T> P(A_inverse_.view(), backend_);
    for (Variant& variant : variants_) certify(solver, variant, P);
  }

  /// Woodbury or conjugate gradients for each item, by counted operations and the memory limit, never by the
  /// clock. On a GPU products are cheaper than anything else.
  void choose_routes(Items& direct, Items& iterated) const {
    const bool possible = backend_.on_host() && !problem_.W->c.empty() &&
                          woodbury_possible(problem_, options_.memory_limit, std::is_same_v<T, double>);
    if (!possible) {
      iterated = all_items();
      return;
    }
    const std::vector<ColumnLoad> loads = column_loads(problem_.X, *problem_.W);
    for (std::int32_t i = 0; i < n_; ++i) {
      const bool woodbury =
          woodbury_operations(loads[i], n_) < iteration_operations(problem_, i, loads[i], options_.tolerance);
      (woodbury ? direct : iterated).push_back(i);
    }
  }

  /// Items whose K turns out singular move to the iterated ones.
  void solve_by_woodbury(const ColumnSolver<T>& solver, Items& direct, Items& iterated) {
    if (direct.empty()) return;
    std::unique_ptr<ScoresOfInverse<T>>& scores = basis_.inverse<T>().scores;
    if (!scores) scores = std::make_unique<ScoresOfInverse<T>>(problem_.X, A_inverse_.view(), backend_);
    const Woodbury<T> woodbury(problem_, A_inverse_.view(), scores->view());
    watch_.book("woodbury T");
    Items solved;
    for_each_block(direct, "solving items with few users", [&](std::span<const std::int32_t> part) {
      Resident<T> h(backend_, static_cast<std::int64_t>(part.size()), n_);
      const std::vector<char> good = woodbury.solve(part, h.view(), execution_);
      Items kept;
      Items rows;
      for (std::size_t k = 0; k < part.size(); ++k) {
        if (good[k] != 0) rows.push_back(static_cast<std::int32_t>(k));
        (good[k] != 0 ? kept : iterated).push_back(part[k]);
      }
      if (rows.size() < part.size()) {
        Resident<T> only(backend_, static_cast<std::int64_t>(rows.size()), n_);
        backend_.copy_rows(MatrixView<const T>(h.view()), rows, only.view(), {});
        h = std::move(only);
      }
      for (Variant& variant : variants_) {
        Resident<float> beta(backend_, h.rows(), n_);
        solver.to_columns(kept, variant.zero_diagonal, h.view(), beta.view());
        put_rows(variant, kept, beta);
        watch_.book("woodbury");
        take_note(solver, variant, kept, beta.view(), multipliers(solver, variant, kept, h.view()));
      }
      solved.insert(solved.end(), kept.begin(), kept.end());
    });
    direct = std::move(solved);
    if (!keep_) scores.reset();
    watch_.book("woodbury");
  }

  void iterate(const ColumnSolver<T>& solver, const Items& items) {
    int most = 0;
    for_each_block(items, "solving", [&](std::span<const std::int32_t> part) {
      const auto count = static_cast<std::int64_t>(part.size());
      Resident<T> h(backend_, problem_.target_is_X ? count : 0, n_);
      if (problem_.target_is_X) {
        most = std::max(most, solver.solve(part, h.view(), result_.worst_column));
      }
      watch_.book("iterations");
      for (Variant& variant : variants_) {
        Resident<float> beta(backend_, count, n_);
        if (problem_.target_is_X) {
          solver.to_columns(part, variant.zero_diagonal, h.view(), beta.view());
          put_rows(variant, part, beta);
          watch_.book("iterations");
          take_note(solver, variant, part, beta.view(), multipliers(solver, variant, part, h.view()));
        } else {  // another target: all columns are looked at one by one
          solver.start_for_target(part, beta.view());
          put_rows(variant, part, beta);
          correct(solver, variant, part);
        }
      }
    });
    result_.iterations = std::max<std::int64_t>(result_.iterations, most);
  }

  /// What the solver takes the multipliers of the zero diagonal for; nothing without one, nor where they come
  /// from the diagonal of a float32 inverse: the saved columns then know them at least as well.
  [[nodiscard]] std::vector<double> multipliers(const ColumnSolver<T>& solver, const Variant& variant,
                                                std::span<const std::int32_t> items,
                                                MatrixView<const T> h) const {
    const bool rounded = std::is_same_v<T, float> && !problem_.weighted() && !measured_whole_;
    return variant.zero_diagonal && !rounded ? solver.multipliers(items, h) : std::vector<double>();
  }

  /// Columns as they are saved enter what will be proven of them. Where they are measured through all data, a
  /// column's own objective is the best guess at its multiplier: at the optimum it is that.
  void take_note(const ColumnSolver<T>& solver, Variant& variant, std::span<const std::int32_t> items,
                 MatrixView<const float> beta, std::vector<double> own) {
    std::vector<double> scores;
    const std::vector<double> explained =
        solver.explained(items, beta, variant.proof->takes_scores() ? &scores : nullptr);
    if (measured_whole_) {
      std::vector<ColumnFigures> figures(items.size());
      solver.figures(items, beta, figures);
      for (std::size_t k = 0; k < items.size(); ++k) variant.objectives[items[k]] = figures[k].objective;
      for (std::size_t k = 0; k < own.size(); ++k) own[k] = figures[k].objective;
    }
    watch_.book("objective");
    variant.proof->add(items, beta, explained, own, scores);
    watch_.book("certificate");
  }

  /// Proves how good all columns are; those that may miss the tolerance are looked at one by one and
  /// corrected. Columns that came straight from a float32 inverse are not: where one is not good enough, a
  /// float64 inverse is sooner had than many corrections.
  void certify(const ColumnSolver<T>& solver, Variant& variant, ApproximateInverse& P) {
    if (!problem_.target_is_X) return;
    variant.proof->prove(P, variant.columns.view(), options_.tolerance);
    watch_.book("certificate");
    const Items missing = variant.proof->missing(options_.tolerance);
    const bool correctable = problem_.weighted() || std::is_same_v<T, double>;
    if (!missing.empty() && correctable) {
      for_each_block(missing, "correcting",
                     [&](std::span<const std::int32_t> part) { correct(solver, variant, part); });
      variant.proof->prove_again(P, variant.columns.view());
      watch_.book("certificate");
    }
    measure(solver, variant);
  }

  /// Looks at columns one by one and corrects them.
  void correct(const ColumnSolver<T>& solver, Variant& variant, std::span<const std::int32_t> items) {
    int most = 0;
    Resident<float> beta = rows_of(variant, items);
    const std::vector<CheckedColumn> checked =
        solver.check_and_correct(items, variant.zero_diagonal, beta.view(), most);
    put_rows(variant, items, beta);
    for (std::size_t k = 0; k < items.size(); ++k) {
      const ColumnFigures& figures = checked[k].figures;
      variant.proof->verify(items[k], figures.observed - figures.objective, checked[k].excess,
                            checked[k].ratio);
      if (problem_.target_is_X) {
        variant.objectives[items[k]] = figures.objective;
      } else {
        variant.objective += figures.objective;
        variant.observed += figures.observed;
      }
    }
    result_.iterations = std::max<std::int64_t>(result_.iterations, most);
    watch_.book("correct");
  }

  /// The objective: of every column through all data where that takes little of the fit's time, else what the
  /// proof knows of it.
  void measure(const ColumnSolver<T>& solver, Variant& variant) {
    variant.observed = std::accumulate(solver.observed().begin(), solver.observed().end(), 0.0);
    if (measured_whole_) {
      variant.objective = std::accumulate(variant.objectives.begin(), variant.objectives.end(), 0.0);
      return;
    }
    const EstimatedObjective estimate = variant.proof->objective();
    variant.objective = estimate.value;
    variant.objective_error = estimate.error;
  }

  [[nodiscard]] Resident<float> rows_of(const Variant& variant, std::span<const std::int32_t> items) const {
    Resident<float> rows(backend_, static_cast<std::int64_t>(items.size()), n_);
    backend_.copy_rows(variant.columns.view(), items, rows.view(), {});
    return rows;
  }

  void put_rows(Variant& variant, std::span<const std::int32_t> items, const Resident<float>& rows) const {
    backend_.copy_rows(rows.view(), {}, variant.columns.view(), items);
  }

  /// Columns that are taken at a time. On a GPU as many as its memory holds beside the matrices of items x
  /// items: a column's blocks take some 64 bytes an item, 96 in float64. Its size and not what is free
  /// decides, so that a result depends on the machine alone.
  [[nodiscard]] std::int64_t block_columns() const {
    if (backend_.on_host()) return full_rank_block;
    const auto n = static_cast<double>(n_);
    constexpr double bytes = 8 * (sizeof(T) + sizeof(float));
    const double room =
        0.9 * static_cast<double>(backend_.memory_bytes()) - gpu_matrices(true, 2) * sizeof(float) * n * n;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(room / (bytes * n + 1)), 256,
                                    std::max<std::int64_t>(256, n_));
  }

  template <class Body>
  void for_each_block(const Items& items, std::string_view task, const Body& body) const {
    const Tiling tiling{static_cast<std::int64_t>(items.size()), block_columns()};
    Progress progress(execution_.observer, task, items.size(), "columns");
    for (std::int64_t block = 0; block < tiling.tiles(); ++block) {
      body(std::span(items).subspan(tiling.first(block), tiling.last(block) - tiling.first(block)));
      progress.advance(tiling.last(block) - tiling.first(block));
    }
  }

  void finish(Variant& variant) {
    backend_.transpose_in_place(variant.columns.view());
    const Certificate certificate = variant.proof->certificate();
    result_.solutions.push_back(
        {.zero_diagonal = variant.zero_diagonal,
         .B = variant.columns.take(variant.room.valid() ? variant.room.get() : Matrix<float>()),
         .objective = variant.objective,
         .objective_error = variant.objective_error,
         .observed_weight = problem_.target_is_X ? problem_.W->observed : variant.observed,
         .certificate = certificate,
         .converged = certificate.worst_column <= options_.tolerance,
         .settled = variant.proof->settled()});
    watch_.book("columns");
  }

  const ColumnProblem& problem_;
  const FullRankOptions& options_;
  FullRankBasis& basis_;
  bool keep_;  ///< whether the basis serves other fits
  Backend& backend_;
  const Execution& execution_;
  FullRankFit& result_;
  Stopwatch watch_;
  std::int64_t n_;
  bool measured_whole_;
  Resident<T>& A_inverse_;  ///< the basis's
  std::vector<Variant> variants_;
};

/// Tries one precision; false when it cannot hold the inverse. `complete` makes what the problem lacks, once
/// the inverse is there.
template <class T>
bool fit_in(const ColumnProblem& problem, const std::function<void()>& complete,
            const FullRankOptions& options, FullRankBasis& basis, bool keep, Backend& backend,
            const Execution& execution, FullRankFit& result) {
  FullRankSolver<T> fit(problem, options, basis, keep, backend, execution, result);
  if (!fit.invert()) return false;
  complete();
  fit.solve();
  return true;
}

}  // namespace

namespace {

/// Error{numerical} for a model that is worse than none, or may be for all that is known: weights beyond what
/// float64 can tell apart.
void refuse_nonsense(const FullRankSolution& solution, const Weights& W) {
  if (solution.converged) return;
  const double apart = W.highest / W.lowest;
  if (solution.objective > solution.observed_weight)
    fail(ErrorKind::numerical,
         "the weights of single entries differ by a factor of {:.1e}, too much for float64: what came out "
         "has an objective of {:.3g}, where a model of zeros has {:.3g}; use a smaller {}, or other values",
         apart, solution.objective, solution.observed_weight, "alpha"_p);
  if (!(solution.certificate.relative < 1))
    fail(ErrorKind::numerical,
         "the weights of single entries differ by a factor of {:.1e}, too much for float64: nothing can be "
         "proven of what came out; use a smaller {}, or other values",
         apart, "alpha"_p);
}

}  // namespace

void validate(const FullRankOptions& options) {
  if (!(options.lambda >= least_lambda && options.lambda <= most_lambda)) {
    fail(ErrorKind::usage, "{} {} is out of range: it must be positive, from {} to {}", "lambda"_p,
         options.lambda, least_lambda, most_lambda);
  }
  // Beyond, popular items are regularized a trillion times as much as rare ones, or the other way round.
  constexpr double steepest = 4;
  if (!(std::abs(options.lambda_exponent) <= steepest)) {
    fail(ErrorKind::usage, "{} {} is out of range: for full rank it must be from {} to {}",
         "lambda-exponent"_p, options.lambda_exponent, -steepest, steepest);
  }
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    fail(ErrorKind::usage, "{} {} is out of range: it must be at least 0 and below 1", "dropout"_p,
         options.dropout);
  }
  if (!(options.tolerance > 0 && options.tolerance < 1)) {
    fail(ErrorKind::usage, "{} {} is out of range: it must be between 0 and 1", "tolerance"_p,
         options.tolerance);
  }
}

FullRankFit fit_full_rank(CsrView X, const Weights& W, const FullRankOptions& options, Backend& backend,
                          const Execution& execution, FullRankBasis* basis, const CsrView* target) {
  validate(options);
  FullRankFit result;
  Stopwatch watch(result.seconds);
  if (target != nullptr && options.zero_diagonal) {
    fail(ErrorKind::usage, "a zero diagonal is defined for an autoencoder only, not with another target");
  }
  check_full_rank_memory(X, W, options);
  if (!backend.on_host()) check_full_rank_gpu_memory(X, W, options, backend.memory_bytes());
  ColumnProblem problem = begin_column_problem(X, W, full_rank_lambda(X, options), target);
  // While a GPU makes the inverse; a processor is busy with that itself.
  std::future<Csr> columns = std::async(backend.on_host() ? std::launch::deferred : std::launch::async,
                                        [&] { return columns_of_weights(X, W, execution.threads); });
  const auto complete = [&] {
    if (columns.valid()) problem.columns = columns.get();
  };
  if (backend.on_host()) complete();
  CsrView support = X;
  support.values = {};
  watch.book("transpose");
  const Pin pinned = backend.pin(support);
  watch.book("upload");
  FullRankBasis own;
  const bool keep = basis != nullptr;
  FullRankBasis& used = keep ? *basis : own;
  used.prepare_for(problem);
  result.tensor_cores = backend.splits_products(X.cols);
  fit_in<float>(problem, complete, options, used, keep, backend, execution, result);
  FullRankOptions left = options;
  for (const FullRankSolution& solution : result.solutions) {
    if (solution.good()) (solution.zero_diagonal ? left.zero_diagonal : left.unconstrained) = false;
  }
  if (!left.unconstrained && !left.zero_diagonal) return result;

  // float64 takes twice the inverse. Where that does not fit, what float32 reached stands, with its
  // certificate.
  const std::uint64_t needed = full_rank_memory(X, true, 2).least + static_cast<std::uint64_t>(X.cols) *
                                                                        static_cast<std::uint64_t>(X.cols) *
                                                                        sizeof(float);
  if (needed > options.memory_limit) {
    if (!result.solutions.empty()) return result;
    const auto [needed_text, limit] =
        compared_bytes(static_cast<double>(needed), static_cast<double>(options.memory_limit));
    fail(ErrorKind::resources,
         "this problem (condition {:.1e}) needs float64, and so {}, where the memory limit is {}; raise {} "
         "or {}",
         result.condition, needed_text, limit, "memory-limit"_p, "lambda"_p);
  }
  used.inverse<float>().matrix = {};
  used.inverse<float>().scores.reset();
  std::vector<FullRankSolution> reached = std::exchange(result.solutions, {});
  result.tensor_cores = false;
  try {
    result.float64 = fit_in<double>(problem, complete, left, used, keep, backend, execution, result);
  } catch (const Error& error) {
    // A GPU says only then that its memory is too small.
    if (error.kind() != ErrorKind::resources || reached.empty()) throw;
    result.solutions.clear();
  }
  if (!result.float64 && reached.empty()) {
    fail(ErrorKind::numerical,
         "X'X + Lambda is singular to working precision even in float64 (condition {:.1e}); raise {}",
         result.condition, "lambda"_p);
  }
  for (FullRankSolution& solution : reached) {
    if (!result.float64 || solution.good()) result.solutions.push_back(std::move(solution));
  }
  std::ranges::sort(result.solutions, {}, &FullRankSolution::zero_diagonal);
  for (const FullRankSolution& solution : result.solutions) refuse_nonsense(solution, W);
  return result;
}

}  // namespace poise
