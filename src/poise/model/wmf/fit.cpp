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
#include "poise/model/low_rank/gauge.hpp"
#include "poise/model/wmf/problem.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {
namespace {

/// Every round solves to this share of the tolerance. Coarser solves are not faster, because they take more
/// rounds, and their errors would differ between machines.
constexpr double share_of_tolerance = 0.1;
constexpr float random_scale = 0.1F;

/// Columns in which both factors have something, however little, come first; the others become 0. Returns how
/// many there are.
std::int64_t keep_live_columns(WmfPair& pair, Backend& backend) {
  const Matrix<double> u = backend.factor_gram(pair.U.view(), {});
  const Matrix<double> v = backend.factor_gram(pair.V.view(), {});
  double largest = 0;
  for (std::int64_t k = 0; k < u.rows(); ++k) largest = std::max(largest, u(k, k) * v(k, k));
  Matrix<double> selection(u.rows(), u.rows());
  std::int64_t live = 0;
  for (std::int64_t k = 0; k < u.rows(); ++k) {
    if (u(k, k) * v(k, k) > 1e-20 * largest) selection(k, live++) = 1;
  }
  if (live == u.rows()) return live;
  backend.multiply_rows(pair.U.view(), selection);
  backend.multiply_rows(pair.V.view(), selection);
  return live;
}

Matrix<float> random_factors(std::int64_t rows, std::int64_t rank, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Matrix<float> factors(rows, rank);
  const float scale = random_scale / std::sqrt(static_cast<float>(rank));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (float& value : factors.row(r)) value = scale * (static_cast<float>(random() >> 40) * 0x1p-23F - 1);
  }
  return factors;
}

class WmfRounds final : public FactorPair {
 public:
  WmfRounds(CsrView X, const WmfProblem& problem, const WmfOptions& options, const Spectrum& spectrum,
            const Factors* earlier, Backend& backend, Stopwatch& watch)
      : problem_(problem),
        W_(problem.weights()),
        options_(options),
        solved_(earlier == nullptr && W_.uniform() && options.lambda_exponent == 0 &&
                options.start == Start::closed_form),
        backend_(backend),
        watch_(watch) {
    // Directions beyond the smaller side of X could only repeat others.
    live_ = std::max<std::int64_t>(1, std::min({options.rank, X.rows, X.cols}));
    current_.U = Resident<float>(backend, X.rows, live_);
    if (earlier != nullptr) {
      current_.V = Resident<float>(backend, with_columns(earlier->V, live_));
    } else if (options.start == Start::random) {
      current_.V = Resident<float>(backend, random_factors(X.cols, live_, options.seed));
    } else {
      constexpr Regularizer like = Regularizer::data_weight_decay;
      const double lambda = solved() ? options.lambda : start_lambda(like, spectrum, live_, options.lambda);
      Factors start = asymmetric_closed_form(like, spectrum, live_, lambda);
      X.values = {};
      backend.spmm(X, Resident<float>(backend, std::move(start.U)).view(), current_.U.view());
      current_.V = Resident<float>(backend, std::move(start.V));
    }
    watch.book("start");
  }

  [[nodiscard]] bool solved() const override { return solved_; }
  [[nodiscard]] std::int64_t live() const override { return live_; }
  Factors take() override { return {current_.U.take(), current_.V.take()}; }

  void save(RoundState& state) const override {
    state.put("U", current_.U);
    state.put("V", current_.V);
    if (has_before_) {
      state.put("U before", before_.U);
      state.put("V before", before_.V);
      state.numbers["U to current"] = U_to_current_;
      state.numbers["V to current"] = V_to_current_;
    }
    Matrix<double> roots(1, std::ssize(U_roots_));
    std::ranges::copy(U_roots_, roots.row(0).begin());
    state.numbers["U roots"] = std::move(roots);
    state.put("start objective", start_objective_);
    state.put("objective", objective_);
    state.put("gained", gained_);
    state.put("in float64", in_float64_ ? 1 : 0);
    state.put("momentum", momentum_);
  }

  void restore(const RoundState& state) override {
    current_ = {state.factor("U", backend_), state.factor("V", backend_)};
    has_before_ = state.factors.contains("U before");
    if (has_before_) {
      before_ = {state.factor("U before", backend_), state.factor("V before", backend_)};
      U_to_current_ = state.numbers.at("U to current");
      V_to_current_ = state.numbers.at("V to current");
    }
    const auto roots = state.numbers.at("U roots").row(0);
    U_roots_.assign(roots.begin(), roots.end());
    start_objective_ = state.number("start objective");
    objective_ = state.number("objective");
    gained_ = state.number("gained");
    in_float64_ = state.number("in float64") != 0;
    momentum_ = state.number("momentum");
  }

  RoundDone round(double /*excess*/, bool /*last*/) override {
    const double felt = told_apart * W_.observed;
    if (!in_float64_ && gained_ < felt) {
      in_float64_ = true;
      objective_ = problem_.objective(current_);
    }
    const double next_momentum = (1 + std::sqrt(1 + 4 * momentum_ * momentum_)) / 2;
    const double extrapolation = has_before_ ? (momentum_ - 1) / next_momentum : 0.0;
    double before = objective_;
    iterations_ = 0;
    momentum_ = next_momentum;
    if (!advance(extrapolation)) {
      momentum_ = 1;
      if (extrapolation > 0) advance(0);
    }
    if (!std::isfinite(before)) before = start_objective_;
    gained_ = before - objective_;
    return {before, objective_, gained_, in_float64_ ? 0 : felt, iterations_};
  }

  CheckedPair check() override {
    before_ = {};
    live_ = keep_live_columns(current_, backend_);
    CheckedPair checked = problem_.check(current_);
    if (W_.observed - checked.objective <= 1e-12 * W_.observed) {
      // Factors that explain nothing converge to 0, where the objective is lower because of lambda.
      current_ = {Resident<float>(backend_, current_.U.rows(), 0),
                  Resident<float>(backend_, current_.V.rows(), 0)};
      live_ = 0;
      checked = {W_.observed, 0};
    }
    watch_.book("check");
    return checked;
  }

 private:
  /// Directions the fixed factors do not have are cut off where nothing else bounds them.
  [[nodiscard]] std::vector<double> live_values(std::vector<double> sigma) const {
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
    // A start far from the solution: the rounding of so large a gain would be visible in the objective. From
    // the solution there is almost none.
    const RowsSolved again =
        backend_.solve_rows(problem_.systems(rows, factors, sigma), solution.view(), tolerance);
    solved.gain = again.explained() - solved.explained_before;
  }

  /// Roots of eigenvalues, 0 where they are nothing but rounding.
  static std::vector<double> roots(std::vector<double> values) {
    for (double& value : values) value = std::sqrt(std::max(0.0, value));
    const double least = values.empty() ? 0 : factor_noise * values.front();
    for (double& value : values) value = value > least ? value : 0;
    return values;
  }

  /// Directions in which U V' is nothing become 0. The start is balanced or has U = 0, from which nothing
  /// could be balanced; different lambdas need another balance.
  [[nodiscard]] Gauge balancing() const {
    const std::int64_t d = current_.V.cols();
    if (options_.lambda_exponent != 0 || !std::isfinite(objective_)) return {identity(d), identity(d), {}};
    Roots of_U{{}, U_roots_};
    if (U_roots_.empty())
      of_U = roots_of(backend_.factor_gram(current_.U.view(), {}), factor_noise * factor_noise, backend_);
    Gauge gauge = balancing_gauge(of_U, backend_.factor_gram(current_.V.view(), {}), 0, backend_);
    gauge.T = with_columns(std::move(gauge.T), d);
    gauge.T_dual = with_columns(std::move(gauge.T_dual), d);
    return gauge;
  }

  /// A round from current + extrapolation (current - before), in the place of `before_`; taken over where
  /// it lowers the objective.
  bool advance(double extrapolation) {
    const std::int64_t d = current_.V.cols();
    if (before_.U.cols() != d)
      before_ = {Resident<float>(backend_, current_.U.rows(), d),
                 Resident<float>(backend_, current_.V.rows(), d)};
    const Gauge balance = balancing();
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
    extrapolate(current_.V, balance.T_dual, before_.V, V_to_current_);
    const EigenPairs V_eigen =
        backend_.symmetric_eigenpairs(backend_.factor_gram(before_.V.view(), problem_.items().weights));
    backend_.multiply_rows(before_.V.view(), V_eigen.Q);
    extrapolate(current_.U, product(balance.T, V_eigen.Q, backend_), before_.U, U_to_current_);
    has_before_ = false;
    watch_.book("rotate");

    RowsSolved solved;
    solve(problem_.users(), before_.V, live_values(V_eigen.s), before_.U, solved);
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
    solve(problem_.items(), before_.U, live_values(U_eigen.s), before_.V, solved);
    watch_.book("items");
    const double reached =
        in_float64_ ? problem_.objective(before_)
                    : W_.observed - solved.explained() + problem_.penalty(before_.U, problem_.users());
    if (!(reached <= objective_)) return false;

    objective_ = reached;
    if (problem_.users().weights.empty()) U_roots_ = roots(U_eigen.s);
    std::swap(current_, before_);
    U_to_current_ = product(product(balance.T, V_eigen.Q, backend_), U_eigen.Q, backend_);
    V_to_current_ = product(product(balance.T_dual, V_eigen.Q, backend_), U_eigen.Q, backend_);
    has_before_ = true;
    return true;
  }

  const WmfProblem& problem_;
  const Weights& W_;
  const WmfOptions& options_;
  bool solved_;
  Backend& backend_;
  Stopwatch& watch_;
  std::int64_t live_ = 0;
  WmfPair current_;
  WmfPair before_;               ///< the pair a round ago, in its own basis
  Matrix<double> U_to_current_;  ///< takes before_ to the basis of current_
  Matrix<double> V_to_current_;
  std::vector<double> U_roots_;  ///< of U'U of current_, where the last round has made it diagonal
  bool has_before_ = false;
  double start_objective_ = 0;  ///< the first solve finds it on its way
  double objective_ = std::numeric_limits<double>::infinity();
  double gained_ = std::numeric_limits<double>::infinity();  ///< by the last round
  bool in_float64_ = false;                                  ///< whether objectives are measured so
  std::int64_t iterations_ = 0;
  double momentum_ = 1;
};

}  // namespace

void validate(const WmfOptions& options) {
  validate(static_cast<const LowRankOptions&>(options));
  if (!std::isfinite(options.lambda_exponent))
    fail(ErrorKind::usage, "{} {} is not a number", "lambda-exponent"_p, options.lambda_exponent);
  if (!(options.alpha > 0))
    fail(ErrorKind::usage, "{} {} is out of range: above 0", "alpha"_p, options.alpha);
}

LowRankFit fit_wmf(CsrView X, const Weights& W, const WmfOptions& options, const Spectrum& spectrum,
                   Backend& backend, const Execution& execution, RoundCheckpoint* checkpoint,
                   const Factors* earlier, Processes* processes) {
  validate(options);
  check_memory(options, wmf_memory(X.rows, X.cols, X.entries(), options.rank));
  LowRankFit fit;
  Stopwatch watch(fit.seconds);
  const WmfProblem problem(X, W, options, backend, execution, processes);
  WmfRounds pair(X, problem, options, spectrum, earlier, backend, watch);
  alternate(pair, options, W.observed, execution.observer, watch, fit, checkpoint);
  fit.trace.back().objective = fit.objective;
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
