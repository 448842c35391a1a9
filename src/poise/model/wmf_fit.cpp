#include "poise/model/wmf_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "poise/backend/resident.hpp"
#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/linalg/precision.hpp"
#include "poise/model/closed_form.hpp"
#include "poise/model/rebalance.hpp"
#include "poise/model/row_fold_in.hpp"
#include "poise/solver/row_entries.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {
namespace {

/// Every round solves to that share of the tolerance. Coarser solves are no faster, as they take more rounds,
/// and what they leave would be another thing on every machine.
constexpr double share_of_tolerance = 0.1;
constexpr float random_scale = 0.1F;

/// One side of the problem: the rows that a half-round solves.
struct Side {
  RowEntries entries;
  std::vector<float> weights;   ///< a or b of these rows
  std::vector<double> lambdas;  ///< empty: one lambda
};

std::vector<double> lambdas_of(CsrView rows, const WmfOptions& options) {
  std::vector<double> result;
  if (options.lambda_exponent == 0) return result;
  for (std::int64_t r = 0; r < rows.rows; ++r)
    result.push_back(options.regularization().of(rows.row_size(r), rows.cols));
  return result;
}

struct Pair {
  Resident<float> U;
  Resident<float> V;
};

class WmfSolver {
 public:
  WmfSolver(CsrView X, const Weights& W, const WmfOptions& options, Backend& backend,
            const Execution& execution, Stopwatch& watch)
      : W_(W), options_(options), backend_(backend), execution_(execution), watch_(watch) {
    users_.entries = make_row_entries(X, W, execution);
    items_.entries = transpose(users_.entries, execution);
    users_.weights = W.a;
    items_.weights = W.b;
    users_.lambdas = lambdas_of(X, options);
    if (options.lambda_exponent != 0) {
      for (const std::int64_t count : column_counts(X))
        items_.lambdas.push_back(options.regularization().of(count, X.rows));
    }
    for (const Side* const side : {&users_, &items_}) {
      pins_.push_back(backend.pin(side->entries.view()));
      pins_.push_back(backend.pin(std::span<const float>(side->entries.c)));
      pins_.push_back(backend.pin(std::span<const float>(side->entries.w)));
    }
  }

  /// The objective of a pair and the most that re-solving one side could gain, in float64.
  struct Checked {
    double objective = 0;
    double excess = 0;
  };
  [[nodiscard]] Checked check(const Pair& pair) const {
    const RowsChecked users = checked(users_, items_, pair.U, pair.V);
    const RowsChecked items = checked(items_, users_, pair.V, pair.U);
    return {W_.observed - users.explained + penalty(pair.V, items_), std::max(users.excess, items.excess)};
  }

  /// Alternating rounds from the given pair, until converged or options.rounds.
  Pair run(Pair start, LowRankFit& fit) {
    current_ = std::move(start);
    const std::int64_t d = current_.V.cols();
    before_ = {Resident<float>(backend_, current_.U.rows(), d),
               Resident<float>(backend_, current_.V.rows(), d)};
    fit.trace.push_back({.round = 0, .seconds = watch_.total()});
    Progress progress(execution_.observer, "training", 0, "rounds");  // it may end at any
    double momentum = 1;
    for (int round = 1; round <= options_.rounds; ++round) {
      const double next_momentum = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
      const double extrapolation = has_before_ ? (momentum - 1) / next_momentum : 0.0;
      const double previous = objective_;
      iterations_ = 0;
      momentum = next_momentum;
      if (!advance(extrapolation)) {
        momentum = 1;
        if (extrapolation > 0) advance(0);
      }
      if (round == 1) fit.trace.front().objective = start_objective_;
      fit.rounds = round;
      fit.iterations = std::max(fit.iterations, iterations_);
      fit.trace.push_back(
          {.round = round, .objective = objective_, .iterations = iterations_, .seconds = watch_.total()});
      progress.advance(1);
      const double gained = (round == 1 ? start_objective_ : previous) - objective_;
      const double least = options_.least_decrease * std::abs(objective_);
      const double felt = told_apart * W_.observed;
      fit.converged = gained < least && (in_float64_ || least >= felt);
      if (fit.converged) break;
      if (gained < felt && !in_float64_) {
        in_float64_ = true;
        objective_ = measured(current_);
      }
    }
    before_ = {};
    return std::move(current_);
  }

 private:
  /// What the rows of one side explain and could still gain, the other side's factors being fixed.
  [[nodiscard]] RowsChecked checked(const Side& rows, const Side& fixed, const Resident<float>& solved,
                                    const Resident<float>& factors) const {
    const EigenPairs eigen =
        backend_.symmetric_eigenpairs(backend_.factor_gram(factors.view(), fixed.weights));
    std::vector<double> sigma = eigen.s;
    for (double& s : sigma) s = std::max(0.0, s);
    return backend_.check_rows(systems(rows, factors, sigma), solved.view(), eigen.Q.view(),
                               transposed(eigen.Q).view());
  }

  /// The objective, in float64.
  [[nodiscard]] double measured(const Pair& pair) const {
    return W_.observed - checked(items_, users_, pair.V, pair.U).explained + penalty(pair.U, users_);
  }

  /// sum of lambda_r ||z_r||^2.
  [[nodiscard]] double penalty(const Resident<float>& Z, const Side& side) const {
    std::vector<double> squares(Z.rows());
    backend_.row_dots(Z.view(), Z.view(), squares);
    double sum = 0;
    for (std::int64_t r = 0; r < Z.rows(); ++r)
      sum += (side.lambdas.empty() ? options_.lambda : side.lambdas[r]) * squares[r];
    return sum;
  }

  [[nodiscard]] RowSystems systems(const Side& rows, const Resident<float>& factors,
                                   std::span<const double> sigma) const {
    return {.factors = factors.view(),
            .sigma = sigma,
            .b = rows.weights,
            .lambda = options_.lambda,
            .lambdas = rows.lambdas,
            .entries = rows.entries.view(),
            .c = rows.entries.c,
            .w = rows.entries.w,
            .lowest = W_.lowest,
            .highest = W_.highest};
  }

  /// Directions the fixed factors do not have are cut off where nothing else bounds them.
  [[nodiscard]] std::vector<double> live(std::vector<double> sigma) const {
    for (double& s : sigma) {
      if (s <= dead_direction * sigma.front()) s = options_.lambda > 0 ? std::max(s, 0.0) : 0.0;
    }
    return sigma;
  }

  void solve(const Side& rows, const Resident<float>& factors, const std::vector<double>& sigma,
             Resident<float>& solution, RowsSolved& solved) {
    const double explained = W_.observed - objective_;
    const double share = (explained > 0 ? explained : 1e-3 * W_.observed) /
                         static_cast<double>(std::max<std::int64_t>(1, rows.entries.rows));
    const double half = share_of_tolerance * options_.tolerance / 2;
    const RowTolerance tolerance{.relative = half, .absolute = half * share};
    solved = backend_.solve_rows(systems(rows, factors, sigma), solution.view(), tolerance);
    iterations_ = std::max(iterations_, solved.most_iterations);
    if (solved.gain <= 10 * W_.observed) return;
    // A start far off: what rounding leaves of so large a gain would be felt in the objective. From the
    // solution there is next to none.
    const RowsSolved again = backend_.solve_rows(systems(rows, factors, sigma), solution.view(), tolerance);
    solved.gain = again.explained() - solved.explained_before;
  }

  /// A round from current + extrapolation (current - before), in the place of `before_`; taken over where
  /// it lowers the objective.
  bool advance(double extrapolation) {
    const std::int64_t d = current_.V.cols();
    Rebalanced balance{identity(d), identity(d), 0};
    // The start is balanced or has U = 0, from which nothing could be balanced.
    if (options_.lambda_exponent == 0 && std::isfinite(objective_))
      balance = rebalance(U_gram_.rows() > 0 ? U_gram_ : backend_.factor_gram(current_.U.view(), {}),
                          backend_.factor_gram(current_.V.view(), {}), backend_);
    const auto scaled = [](Matrix<double> A, double factor) {
      for (std::int64_t r = 0; r < A.rows(); ++r) {
        for (double& value : A.row(r)) value *= factor;
      }
      return A;
    };
    const auto extrapolate = [&](const Resident<float>& now, const Matrix<double>& to,
                                 Resident<float>& before, const Matrix<double>& before_to) {
      if (extrapolation == 0) {
        backend_.combine_rows(now.view(), to, before.view(), {});
      } else {
        backend_.combine_rows(now.view(), scaled(to, 1 + extrapolation), before.view(),
                              scaled(product(before_to, to, backend_), -extrapolation));
      }
    };
    extrapolate(current_.V, balance.A_v, before_.V, V_to_current_);
    const EigenPairs V_eigen =
        backend_.symmetric_eigenpairs(backend_.factor_gram(before_.V.view(), items_.weights));
    backend_.multiply_rows(before_.V.view(), V_eigen.Q);
    extrapolate(current_.U, product(balance.A_u, V_eigen.Q, backend_), before_.U, U_to_current_);
    has_before_ = false;
    watch_.book("rotate");

    RowsSolved solved;
    solve(users_, before_.V, live(V_eigen.s), before_.U, solved);
    watch_.book("users");
    if (!std::isfinite(objective_)) {
      start_objective_ = W_.observed - solved.explained_before + penalty(before_.V, items_);
      objective_ = start_objective_;
    }
    const double halfway = W_.observed - solved.explained() + penalty(before_.V, items_);
    if (extrapolation > 0 && !in_float64_ && !(halfway < objective_)) return false;

    const EigenPairs U_eigen =
        backend_.symmetric_eigenpairs(backend_.factor_gram(before_.U.view(), users_.weights));
    backend_.multiply_rows(before_.U.view(), U_eigen.Q);
    backend_.multiply_rows(before_.V.view(), U_eigen.Q);
    watch_.book("rotate");
    solve(items_, before_.U, live(U_eigen.s), before_.V, solved);
    watch_.book("items");
    const double reached =
        in_float64_ ? measured(before_) : W_.observed - solved.explained() + penalty(before_.U, users_);
    if (!(reached <= objective_)) return false;

    objective_ = reached;
    if (users_.weights.empty()) {
      U_gram_ = Matrix<double>(d, d);
      for (std::int64_t k = 0; k < d; ++k) U_gram_(k, k) = std::max(0.0, U_eigen.s[k]);
    }
    std::swap(current_, before_);
    U_to_current_ = product(product(balance.A_u, V_eigen.Q, backend_), U_eigen.Q, backend_);
    V_to_current_ = product(product(balance.A_v, V_eigen.Q, backend_), U_eigen.Q, backend_);
    has_before_ = true;
    return true;
  }

  const Weights& W_;
  const WmfOptions& options_;
  Backend& backend_;
  const Execution& execution_;
  Stopwatch& watch_;
  Side users_;
  Side items_;
  std::vector<Pin> pins_;
  Pair current_;
  Pair before_;                  ///< the pair a round ago, in its own basis
  Matrix<double> U_to_current_;  ///< takes before_ to the basis of current_
  Matrix<double> V_to_current_;
  Matrix<double> U_gram_;  ///< U'U of current_ where the last round has found it
  bool has_before_ = false;
  double start_objective_ = 0;  ///< the first solve finds it on its way
  double objective_ = std::numeric_limits<double>::infinity();
  bool in_float64_ = false;  ///< whether objectives are measured so
  std::int64_t iterations_ = 0;
};

Matrix<float> random_factors(std::int64_t rows, std::int64_t rank, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Matrix<float> factors(rows, rank);
  const float scale = random_scale / std::sqrt(static_cast<float>(rank));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (float& value : factors.row(r)) value = scale * (static_cast<float>(random() >> 40) * 0x1p-23F - 1);
  }
  return factors;
}

/// Columns in which both factors have something, however little.
std::vector<std::int64_t> columns_of_both(const Pair& pair, Backend& backend) {
  const Matrix<double> u = backend.factor_gram(pair.U.view(), {});
  const Matrix<double> v = backend.factor_gram(pair.V.view(), {});
  double largest = 0;
  for (std::int64_t k = 0; k < u.rows(); ++k) largest = std::max(largest, u(k, k) * v(k, k));
  std::vector<std::int64_t> columns;
  for (std::int64_t k = 0; k < u.rows(); ++k) {
    if (u(k, k) * v(k, k) > 1e-20 * largest) columns.push_back(k);
  }
  return columns;
}

/// These columns first, in the given order; the others become 0.
void keep_columns(Pair& pair, const std::vector<std::int64_t>& columns, Backend& backend) {
  const std::int64_t rank = pair.U.cols();
  if (std::ssize(columns) == rank) return;
  Matrix<double> selection(rank, rank);
  for (std::int64_t k = 0; k < std::ssize(columns); ++k) selection(columns[k], k) = 1;
  backend.multiply_rows(pair.U.view(), selection);
  backend.multiply_rows(pair.V.view(), selection);
}

}  // namespace

void validate(const WmfOptions& options) {
  if (options.rank < 1) fail(ErrorKind::usage, "{} {} is out of range: at least 1", "rank"_p, options.rank);
  if (!(options.lambda >= 0) || !std::isfinite(options.lambda))
    fail(ErrorKind::usage, "{} {} is out of range: at least 0", "lambda"_p, options.lambda);
  if (!std::isfinite(options.lambda_exponent))
    fail(ErrorKind::usage, "{} {} is not a number", "lambda-exponent"_p, options.lambda_exponent);
  if (!(options.alpha > 0))
    fail(ErrorKind::usage, "{} {} is out of range: above 0", "alpha"_p, options.alpha);
  if (!(options.least_decrease >= 0))
    fail(ErrorKind::usage, "{} {} is out of range: at least 0", "least-decrease"_p, options.least_decrease);
  if (options.rounds < 0)
    fail(ErrorKind::usage, "{} {} is out of range: at least 0", "rounds"_p, options.rounds);
  if (!(options.tolerance > 0))
    fail(ErrorKind::usage, "{} {} is out of range: above 0", "tolerance"_p, options.tolerance);
}

LowRankFit fit_wmf(CsrView X, const Weights& W, const WmfOptions& options, const Spectrum& spectrum,
                   Backend& backend, const Execution& execution) {
  validate(options);
  const std::uint64_t needed = wmf_memory(X.rows, X.cols, X.entries(), options.rank);
  if (needed > options.memory_limit) {
    const auto [needed_text, limit] =
        compared_bytes(static_cast<double>(needed), static_cast<double>(options.memory_limit));
    fail(ErrorKind::resources,
         "weighted matrix factorization of rank {} needs {} for these data, but {} is {}; use a lower {} or "
         "raise the limit",
         options.rank, needed_text, "memory-limit"_p, limit, "rank"_p);
  }
  const bool solved = W.uniform() && options.lambda_exponent == 0 && options.start == Start::closed_form;
  // Directions beyond the smaller side of X could only repeat others.
  const std::int64_t rank = std::max<std::int64_t>(1, std::min({options.rank, X.rows, X.cols}));
  LowRankFit fit;
  Stopwatch watch(fit.seconds);
  fit.observed_weight = W.observed;
  Pair pair{Resident<float>(backend, X.rows, rank), {}};
  if (options.start == Start::closed_form) {
    const double lambda = solved ? options.lambda : wmf_start_lambda(spectrum, rank, options.lambda);
    // wmf_closed_form, with U = X times this one.
    Factors start = asymmetric_closed_form(Regularizer::data_weight_decay, spectrum, rank, lambda);
    CsrView support = X;
    support.values = {};
    backend.spmm(support, Resident<float>(backend, std::move(start.U)).view(), pair.U.view());
    pair.V = Resident<float>(backend, std::move(start.V));
  } else {
    pair.V = Resident<float>(backend, random_factors(X.cols, rank, options.seed));
  }
  WmfSolver solver(X, W, options, backend, execution, watch);
  watch.book("start");
  if (!solved) pair = solver.run(std::move(pair), fit);

  const std::vector<std::int64_t> live = columns_of_both(pair, backend);
  keep_columns(pair, live, backend);
  fit.live_directions = std::ssize(live);
  const auto checked = solver.check(pair);
  fit.objective = checked.objective;
  fit.certificate.absolute = checked.excess;
  const double explained = W.observed - fit.objective;
  if (explained <= 1e-12 * W.observed) {
    // Factors that explain nothing are on their way to 0, which lambda wants and which is better.
    fit.U = Matrix<float>(X.rows, options.rank);
    fit.V = Matrix<float>(X.cols, options.rank);
    fit.objective = W.observed;
    fit.certificate = {};
    fit.live_directions = 0;
    fit.converged = true;
  } else {
    fit.certificate.relative = fit.certificate.absolute / explained;
    fit.U = with_columns(pair.U.take(), options.rank);
    fit.V = with_columns(pair.V.take(), options.rank);
  }
  if (solved) {
    fit.converged = true;
    fit.trace.push_back({.round = 0, .objective = fit.objective, .seconds = watch.total()});
  } else {
    fit.trace.back().objective = fit.objective;
  }
  watch.book("check");
  return fit;
}

std::uint64_t wmf_memory(std::int64_t users, std::int64_t items, std::int64_t entries, std::int64_t rank) {
  const auto unsigned_of = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const std::uint64_t factors = unsigned_of(users + items) * unsigned_of(rank) * sizeof(float);
  const std::uint64_t stored =
      2 * unsigned_of(entries) * (sizeof(std::int32_t) + 2 * sizeof(float)) + 16 * unsigned_of(users + items);
  const std::uint64_t small = 24 * unsigned_of(rank) * unsigned_of(rank) * sizeof(double);
  return 3 * factors + stored + small;
}

}  // namespace poise
