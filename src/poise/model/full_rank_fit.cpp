#include "poise/model/full_rank_fit.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

#include "poise/backend/resident.hpp"
#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/model/full_rank_columns.hpp"
#include "poise/model/full_rank_cost.hpp"
#include "poise/solver/woodbury.hpp"

namespace poise {

namespace {

/// Up to this condition float32 holds the inverse; beyond it float64 does.
constexpr double float32_condition = 1e5;
/// Columns of a direct route that are checked.
constexpr std::int64_t sample_size = 256;
/// Slopes up to this much of the objective are left out of it.
constexpr double negligible_slope = 1e-6;

/// Distinct members of `items`, drawn by a fixed seed, ascending; all of them when there are few.
std::vector<std::int32_t> sample(std::vector<std::int32_t> items) {
  std::mt19937 random(1);
  const auto count = static_cast<std::int64_t>(items.size());
  for (std::int64_t k = 0; k < std::min(count, sample_size); ++k) {
    std::swap(items[k],
              items[k + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(count - k))]);
  }
  items.resize(std::min(count, sample_size));
  std::sort(items.begin(), items.end());
  return items;
}

/// Memory for n x n numbers, mapped by a thread of its own: to touch gigabytes for the first time takes
/// longer than to fill them.
std::future<Matrix<float>> room_for(std::int64_t n) {
  return std::async([n] {
    constexpr std::int64_t page = 4096 / sizeof(float);
    Matrix<float> room = Matrix<float>::uninitialized(n, n);
    for (std::int64_t at = 0; at < n * n; at += page) room.view().data[at] = 0;
    return room;
  });
}

/// One of the two models while it is made, and what is known of its columns.
struct Variant {
  bool zero_diagonal;
  std::future<Matrix<float>> room = {};  // on the host, while a GPU computes
  Resident<float> columns = {};          // row i is B_:i
  Certificate certificate = {};
  double objective = 0;
  double observed = 0;

  void add(const CheckedColumn& column, double times) {
    certificate.absolute += times * column.excess;
    certificate.worst_column = std::max(certificate.worst_column, column.ratio);
  }
  void add(const ColumnFigures& figures) {
    objective += figures.objective;
    observed += figures.observed;
  }
};

/// The fit in one precision of the inverse.
template <class T>
class Fit {
 public:
  Fit(const ColumnProblem& problem, const FullRankOptions& options, FullRankBasis& basis, bool keep,
      Backend& backend, const Execution& execution, FullRankFit& result)
      : problem_(problem),
        options_(options),
        basis_(basis),
        keep_(keep),
        backend_(backend),
        execution_(execution),
        result_(result),
        watch_(result.seconds),
        n_(problem.items()),
        A_inverse_(basis.inverse<T>().matrix) {}

  /// A^-1, unless it is there; false when this precision is not up to it.
  bool invert() {
    std::optional<SpdInverse>& outcome = basis_.inverse<T>().outcome;
    const auto good = [&] {
      return outcome->positive_definite &&
             (!std::is_same_v<T, float> || outcome->condition <= float32_condition);
    };
    if (!outcome || (good() && A_inverse_.rows() != n_)) {
      A_inverse_ = Resident<T>(backend_, n_, n_);
      fill_gram();
      const Items all = all_items();
      std::vector<double> diagonal(n_);
      backend_.get_entries(MatrixView<const T>(A_inverse_.view()), all, all, diagonal);
      for (std::int64_t i = 0; i < n_; ++i) diagonal[i] += problem_.l[i] / problem_.b_bar;
      backend_.set_entries(A_inverse_.view(), all, diagonal);
      watch_.book("gram");
      outcome = backend_.invert_spd(A_inverse_.view());
      watch_.book("inverse");
    }
    result_.condition = outcome->condition;
    if (!good()) A_inverse_ = {};
    return good();
  }

  void solve() {
    if (options_.unconstrained) variants_.push_back({.zero_diagonal = false});
    if (options_.zero_diagonal) variants_.push_back({.zero_diagonal = true});
    for (Variant& variant : variants_) {
      if (!backend_.on_host()) variant.room = room_for(n_);
    }
    const ColumnSolver<T> solver(problem_, A_inverse_.view(), basis_.gram().view(), options_.tolerance,
                                 backend_, execution_);
    watch_.book("data");
    const bool shared = problem_.W->c.empty() && problem_.W->b.empty() && problem_.target_is_X;
    if (shared) {
      solve_unweighted(solver);
    } else {
      solve_weighted(solver);
    }
    for (Variant& variant : variants_) finish(variant);
  }

 private:
  using Items = std::vector<std::int32_t>;

  /// G in the place of A^-1. On a GPU by way of the basis, for residuals.
  void fill_gram() {
    if (backend_.on_host()) {
      backend_.gram(problem_.X, problem_.W->a, A_inverse_.view());
      return;
    }
    Resident<double>& G = basis_.gram();
    if (G.rows() != n_) {
      G = Resident<double>(backend_, n_, n_);
      backend_.gram(problem_.X, problem_.W->a, G.view());
    }
    backend_.copy(MatrixView<const double>(G.view()), A_inverse_.view());
  }

  [[nodiscard]] Items all_items() const {
    Items items(n_);
    std::iota(items.begin(), items.end(), 0);
    return items;
  }

  /// W = 1, or user weights alone: h_i = A^-1 e_i. The last model takes the place of A^-1, once nothing needs
  /// that.
  void solve_unweighted(const ColumnSolver<T>& solver) {
    const Items items = all_items();
    result_.direct_columns = n_;
    for (std::size_t v = 0; v < variants_.size(); ++v) {
      Variant& variant = variants_[v];
      const Items sampled = sample(items);
      const auto count = static_cast<std::int64_t>(sampled.size());
      Resident<T> h(backend_, count, n_);
      Resident<float> beta(backend_, count, n_);
      backend_.copy_rows(MatrixView<const T>(A_inverse_.view()), sampled, h.view(), {});
      solver.to_columns(sampled, variant.zero_diagonal, h.view(), beta.view());
      const Sample checked = check_sample(solver, variant, sampled, beta.view(), items);
      watch_.book("check");
      bool in_place = false;
      if constexpr (std::is_same_v<T, float>) in_place = checked.met && !keep_ && v + 1 == variants_.size();
      if (!in_place) variant.columns = Resident<float>(backend_, n_, n_);
      for_each_block(items, "solving", [&](std::span<const std::int32_t> part) {
        const auto width = static_cast<std::int64_t>(part.size());
        const MatrixView<T> rows = A_inverse_.view().block(part.front(), width);
        MatrixView<float> to;
        if constexpr (std::is_same_v<T, float>) to = rows;
        if (!in_place) to = variant.columns.view().block(part.front(), width);
        solver.to_columns(part, variant.zero_diagonal, rows, to);
      });
      if constexpr (std::is_same_v<T, float>) {
        if (in_place) variant.columns = std::move(A_inverse_);
      }
      watch_.book("columns");
      finish_direct(solver, variant, items, checked);
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
    if (!direct.empty()) {
      for (Variant& variant : variants_) check_directly(solver, variant, direct);
    }
    iterate(solver, iterated);
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
        } else {
          solver.start_for_target(part, beta.view());
        }
        for (const CheckedColumn& column :
             solver.check_and_correct(part, variant.zero_diagonal, beta.view(), most)) {
          variant.add(column, 1);
          variant.add(column.figures);
        }
        put_rows(variant, part, beta);
        watch_.book("check");
      }
    });
    result_.iterations = std::max<std::int64_t>(result_.iterations, most);
  }

  /// What a sample of directly solved columns shows: whether all meet the tolerance, and whether their slopes
  /// are negligible against the objective.
  struct Sample {
    bool met = false;
    bool stationary = false;
  };
  Sample check_sample(const ColumnSolver<T>& solver, Variant& variant, const Items& sampled,
                      MatrixView<const float> beta, const Items& items) {
    const std::vector<CheckedColumn> checked = solver.check(sampled, variant.zero_diagonal, beta);
    double objective = 0;
    double slope = 0;
    for (const CheckedColumn& column : checked) {
      if (!(column.ratio <= options_.tolerance)) return {};
      objective += column.figures.objective;
      slope += std::abs(column.slope);
    }
    const double times = static_cast<double>(items.size()) / static_cast<double>(sampled.size());
    for (const CheckedColumn& column : checked) variant.add(column, times);
    variant.certificate.sampled = variant.certificate.sampled || sampled.size() < items.size();
    return {.met = true, .stationary = slope <= negligible_slope * objective};
  }

  void check_directly(const ColumnSolver<T>& solver, Variant& variant, const Items& items) {
    const Items sampled = sample(items);
    const Sample checked = check_sample(solver, variant, sampled, rows_of(variant, sampled).view(), items);
    watch_.book("check");
    finish_direct(solver, variant, items, checked);
  }

  void finish_direct(const ColumnSolver<T>& solver, Variant& variant, const Items& items, Sample checked) {
    if (checked.met) {
      add_objective(solver, variant, items, checked.stationary);
    } else {
      correct_all(solver, variant, items);
    }
  }

  /// Every column's own objective.
  void add_objective(const ColumnSolver<T>& solver, Variant& variant, const Items& items, bool stationary) {
    std::vector<ColumnFigures> figures(block_columns());
    for_each_block(items, "measuring", [&](std::span<const std::int32_t> part) {
      const bool contiguous = part.back() - part.front() + 1 == static_cast<std::int64_t>(part.size());
      const Resident<float> copy = contiguous ? Resident<float>() : rows_of(variant, part);
      const MatrixView<const float> beta =
          contiguous ? variant.columns.view().block(part.front(), static_cast<std::int64_t>(part.size()))
                     : copy.view();
      if (stationary) {
        solver.stationary_figures(part, beta, figures);
      } else {
        solver.figures(part, beta, figures);
      }
      for (std::size_t k = 0; k < part.size(); ++k) variant.add(figures[k]);
    });
    watch_.book("objective");
  }

  /// Checks and corrects every column.
  void correct_all(const ColumnSolver<T>& solver, Variant& variant, const Items& items) {
    int most = 0;
    for_each_block(items, "correcting", [&](std::span<const std::int32_t> part) {
      Resident<float> beta = rows_of(variant, part);
      for (const CheckedColumn& column :
           solver.check_and_correct(part, variant.zero_diagonal, beta.view(), most)) {
        variant.add(column, 1);
        variant.add(column.figures);
      }
      put_rows(variant, part, beta);
    });
    result_.iterations = std::max<std::int64_t>(result_.iterations, most);
    watch_.book("correct");
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
    const double explained = variant.observed - variant.objective;
    variant.certificate.relative = explained > 0 ? variant.certificate.absolute / explained : 0;
    result_.solutions.push_back(
        {.zero_diagonal = variant.zero_diagonal,
         .B = variant.columns.take(variant.room.valid() ? variant.room.get() : Matrix<float>()),
         .objective = variant.objective,
         .observed_weight = problem_.target_is_X ? problem_.W->observed : variant.observed,
         .certificate = variant.certificate,
         .converged = variant.certificate.worst_column <= options_.tolerance});
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
  Resident<T>& A_inverse_;  ///< the basis's
  std::vector<Variant> variants_;
};

/// Tries one precision; false when it cannot hold the inverse.
template <class T>
bool fit_in(const ColumnProblem& problem, const FullRankOptions& options, FullRankBasis& basis, bool keep,
            Backend& backend, const Execution& execution, FullRankFit& result) {
  Fit<T> fit(problem, options, basis, keep, backend, execution, result);
  if (!fit.invert()) return false;
  fit.solve();
  return true;
}

}  // namespace

void validate(const FullRankOptions& options) {
  if (!(options.lambda > 0) || !std::isfinite(options.lambda)) {
    fail(ErrorKind::usage, "--lambda {} is out of range: it must be positive and finite", options.lambda);
  }
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    fail(ErrorKind::usage, "--dropout {} is out of range: it must be at least 0 and below 1",
         options.dropout);
  }
  if (!(options.tolerance > 0 && options.tolerance < 1)) {
    fail(ErrorKind::usage, "--tolerance {} is out of range: it must be between 0 and 1", options.tolerance);
  }
}

FullRankFit fit_full_rank(CsrView X, const Weights& W, const FullRankOptions& options, Backend& backend,
                          const Execution& execution, FullRankBasis* basis, const CsrView* target) {
  validate(options);
  if (target != nullptr && options.zero_diagonal) {
    fail(ErrorKind::usage, "a zero diagonal is defined for an autoencoder only, not with another target");
  }
  check_full_rank_memory(X, W, options);
  if (!backend.on_host()) check_full_rank_gpu_memory(X, W, options, backend.memory_bytes());
  const ColumnProblem problem =
      make_column_problem(X, W, full_rank_lambda(X, options), target, execution.threads);
  CsrView support = X;
  support.values = {};
  const Pin pinned = backend.pin(support);
  FullRankBasis own;
  const bool keep = basis != nullptr;
  FullRankBasis& used = keep ? *basis : own;
  used.prepare_for(problem);
  FullRankFit result;
  result.tensor_cores = backend.splits_products(X.cols);
  fit_in<float>(problem, options, used, keep, backend, execution, result);
  FullRankOptions left = options;
  for (const FullRankSolution& solution : result.solutions) {
    if (solution.converged) (solution.zero_diagonal ? left.zero_diagonal : left.unconstrained) = false;
  }
  if (!left.unconstrained && !left.zero_diagonal) return result;

  // float64 takes twice the inverse. Where that does not fit, what float32 reached stands, with its
  // certificate.
  const std::uint64_t needed =
      full_rank_memory(X.rows, X.cols, true, 2).least +
      static_cast<std::uint64_t>(X.cols) * static_cast<std::uint64_t>(X.cols) * sizeof(float);
  if (needed > options.memory_limit) {
    if (!result.solutions.empty()) return result;
    const auto [needed_text, limit] =
        compared_bytes(static_cast<double>(needed), static_cast<double>(options.memory_limit));
    fail(ErrorKind::resources,
         "this problem (condition {:.1e}) needs float64, and so {}, where the memory limit is {}; raise "
         "--memory-limit or --lambda",
         result.condition, needed_text, limit);
  }
  used.inverse<float>().matrix = {};
  used.inverse<float>().scores.reset();
  std::vector<FullRankSolution> reached = std::exchange(result.solutions, {});
  result.tensor_cores = false;
  try {
    result.float64 = fit_in<double>(problem, left, used, keep, backend, execution, result);
  } catch (const Error& error) {
    // A GPU says only then that its memory is too small.
    if (error.kind() != ErrorKind::resources || reached.empty()) throw;
    result.solutions.clear();
  }
  if (!result.float64 && reached.empty()) {
    fail(ErrorKind::numerical,
         "X'X + lambda I is singular to working precision even in float64 (condition {:.1e}); raise --lambda",
         result.condition);
  }
  for (FullRankSolution& solution : reached) {
    if (!result.float64 || solution.converged) result.solutions.push_back(std::move(solution));
  }
  std::ranges::sort(result.solutions, {}, &FullRankSolution::zero_diagonal);
  return result;
}

}  // namespace poise
