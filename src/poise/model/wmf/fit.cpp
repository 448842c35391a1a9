#include "poise/model/wmf/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/linalg/precision.hpp"
#include "poise/model/closed_form.hpp"
#include "poise/model/low_rank/alternating.hpp"
#include "poise/model/low_rank/rebalance.hpp"
#include "poise/model/wmf/problem.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {
namespace {

/// Every round solves to that share of the tolerance. Coarser solves are no faster, as they take more rounds,
/// and what they leave would be another thing on every machine.
constexpr double share_of_tolerance = 0.1;
constexpr float random_scale = 0.1F;

class WmfSolver final : public FactorPair {
 public:
  WmfSolver(const WmfProblem& problem, const WmfOptions& options, Backend& backend,
            const Execution& execution, Stopwatch& watch)
      : problem_(problem),
        W_(problem.weights()),
        options_(options),
        backend_(backend),
        execution_(execution),
        watch_(watch) {}

  /// Alternating rounds from the given pair, until converged or options.rounds.
  WmfPair run(WmfPair start, LowRankFit& fit) {
    current_ = std::move(start);
    const std::int64_t d = current_.V.cols();
    before_ = {Resident<float>(backend_, current_.U.rows(), d),
               Resident<float>(backend_, current_.V.rows(), d)};
    fit.trace.push_back({.round = 0, .seconds = watch_.total()});
    alternate(*this, options_, execution_.observer, watch_, fit);
    if (fit.rounds > 0) fit.trace.front().objective = start_objective_;
    fit.converged = converged_;
    before_ = {};
    return std::move(current_);
  }

  RoundDone round(int number) override {
    const double next_momentum = (1 + std::sqrt(1 + 4 * momentum_ * momentum_)) / 2;
    const double extrapolation = has_before_ ? (momentum_ - 1) / next_momentum : 0.0;
    const double previous = objective_;
    iterations_ = 0;
    momentum_ = next_momentum;
    if (!advance(extrapolation)) {
      momentum_ = 1;
      if (extrapolation > 0) advance(0);
    }
    const double gained = (number == 1 ? start_objective_ : previous) - objective_;
    const double least = options_.least_decrease * std::abs(objective_);
    const double felt = told_apart * W_.observed;
    converged_ = gained < least && (in_float64_ || least >= felt);
    const RoundDone done{objective_, iterations_, converged_};
    if (!converged_ && gained < felt && !in_float64_) {
      in_float64_ = true;
      objective_ = problem_.objective(current_);
    }
    return done;
  }

 private:
  /// Directions the fixed factors do not have are cut off where nothing else bounds them.
  [[nodiscard]] std::vector<double> live(std::vector<double> sigma) const {
    for (double& s : sigma) {
      if (s <= dead_direction * sigma.front()) s = options_.lambda > 0 ? std::max(s, 0.0) : 0.0;
    }
    return sigma;
  }

  void solve(const WmfSide& rows, const Resident<float>& factors, const std::vector<double>& sigma,
             Resident<float>& solution, RowsSolved& solved) {
    const double explained = W_.observed - objective_;
    const double share = (explained > 0 ? explained : 1e-3 * W_.observed) /
                         static_cast<double>(std::max<std::int64_t>(1, rows.entries.rows));
    const double half = share_of_tolerance * options_.tolerance / 2;
    const RowTolerance tolerance{.relative = half, .absolute = half * share};
    solved = backend_.solve_rows(problem_.systems(rows, factors, sigma), solution.view(), tolerance);
    iterations_ = std::max(iterations_, solved.most_iterations);
    if (solved.gain <= 10 * W_.observed) return;
    // A start far off: what rounding leaves of so large a gain would be felt in the objective. From the
    // solution there is next to none.
    const RowsSolved again =
        backend_.solve_rows(problem_.systems(rows, factors, sigma), solution.view(), tolerance);
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
        backend_.symmetric_eigenpairs(backend_.factor_gram(before_.V.view(), problem_.items().weights));
    backend_.multiply_rows(before_.V.view(), V_eigen.Q);
    extrapolate(current_.U, product(balance.A_u, V_eigen.Q, backend_), before_.U, U_to_current_);
    has_before_ = false;
    watch_.book("rotate");

    RowsSolved solved;
    solve(problem_.users(), before_.V, live(V_eigen.s), before_.U, solved);
    watch_.book("users");
    if (!std::isfinite(objective_)) {
      start_objective_ =
          W_.observed - solved.explained_before + problem_.penalty(before_.V, problem_.items());
      objective_ = start_objective_;
    }
    const double halfway = W_.observed - solved.explained() + problem_.penalty(before_.V, problem_.items());
    if (extrapolation > 0 && !in_float64_ && !(halfway < objective_)) return false;

    const EigenPairs U_eigen =
        backend_.symmetric_eigenpairs(backend_.factor_gram(before_.U.view(), problem_.users().weights));
    backend_.multiply_rows(before_.U.view(), U_eigen.Q);
    backend_.multiply_rows(before_.V.view(), U_eigen.Q);
    watch_.book("rotate");
    solve(problem_.items(), before_.U, live(U_eigen.s), before_.V, solved);
    watch_.book("items");
    const double reached =
        in_float64_ ? problem_.objective(before_)
                    : W_.observed - solved.explained() + problem_.penalty(before_.U, problem_.users());
    if (!(reached <= objective_)) return false;

    objective_ = reached;
    if (problem_.users().weights.empty()) {
      U_gram_ = Matrix<double>(d, d);
      for (std::int64_t k = 0; k < d; ++k) U_gram_(k, k) = std::max(0.0, U_eigen.s[k]);
    }
    std::swap(current_, before_);
    U_to_current_ = product(product(balance.A_u, V_eigen.Q, backend_), U_eigen.Q, backend_);
    V_to_current_ = product(product(balance.A_v, V_eigen.Q, backend_), U_eigen.Q, backend_);
    has_before_ = true;
    return true;
  }

  const WmfProblem& problem_;
  const Weights& W_;
  const WmfOptions& options_;
  Backend& backend_;
  const Execution& execution_;
  Stopwatch& watch_;
  WmfPair current_;
  WmfPair before_;               ///< the pair a round ago, in its own basis
  Matrix<double> U_to_current_;  ///< takes before_ to the basis of current_
  Matrix<double> V_to_current_;
  Matrix<double> U_gram_;  ///< U'U of current_ where the last round has found it
  bool has_before_ = false;
  double start_objective_ = 0;  ///< the first solve finds it on its way
  double objective_ = std::numeric_limits<double>::infinity();
  bool in_float64_ = false;  ///< whether objectives are measured so
  std::int64_t iterations_ = 0;
  double momentum_ = 1;
  bool converged_ = false;
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
std::vector<std::int64_t> columns_of_both(const WmfPair& pair, Backend& backend) {
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
void keep_columns(WmfPair& pair, const std::vector<std::int64_t>& columns, Backend& backend) {
  const std::int64_t rank = pair.U.cols();
  if (std::ssize(columns) == rank) return;
  Matrix<double> selection(rank, rank);
  for (std::int64_t k = 0; k < std::ssize(columns); ++k) selection(columns[k], k) = 1;
  backend.multiply_rows(pair.U.view(), selection);
  backend.multiply_rows(pair.V.view(), selection);
}

}  // namespace

void validate(const WmfOptions& options) {
  validate(static_cast<const LowRankOptions&>(options));
  if (!std::isfinite(options.lambda_exponent))
    fail(ErrorKind::usage, "{} {} is not a number", "lambda-exponent"_p, options.lambda_exponent);
  if (!(options.alpha > 0))
    fail(ErrorKind::usage, "{} {} is out of range: above 0", "alpha"_p, options.alpha);
}

LowRankFit fit_wmf(CsrView X, const Weights& W, const WmfOptions& options, const Spectrum& spectrum,
                   Backend& backend, const Execution& execution) {
  validate(options);
  check_memory(options, wmf_memory(X.rows, X.cols, X.entries(), options.rank));
  const bool solved = W.uniform() && options.lambda_exponent == 0 && options.start == Start::closed_form;
  // Directions beyond the smaller side of X could only repeat others.
  const std::int64_t rank = std::max<std::int64_t>(1, std::min({options.rank, X.rows, X.cols}));
  LowRankFit fit;
  Stopwatch watch(fit.seconds);
  fit.observed_weight = W.observed;
  WmfPair pair{Resident<float>(backend, X.rows, rank), {}};
  if (options.start == Start::closed_form) {
    const double lambda = solved
                              ? options.lambda
                              : start_lambda(Regularizer::data_weight_decay, spectrum, rank, options.lambda);
    Factors start = asymmetric_closed_form(Regularizer::data_weight_decay, spectrum, rank, lambda);
    CsrView support = X;
    support.values = {};
    backend.spmm(support, Resident<float>(backend, std::move(start.U)).view(), pair.U.view());
    pair.V = Resident<float>(backend, std::move(start.V));
  } else {
    pair.V = Resident<float>(backend, random_factors(X.cols, rank, options.seed));
  }
  const WmfProblem problem(X, W, options, backend, execution);
  watch.book("start");
  if (!solved) pair = WmfSolver(problem, options, backend, execution, watch).run(std::move(pair), fit);

  const std::vector<std::int64_t> live = columns_of_both(pair, backend);
  keep_columns(pair, live, backend);
  fit.live_directions = std::ssize(live);
  const WmfProblem::Checked checked = problem.check(pair);
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
