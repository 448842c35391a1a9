#include "poise/model/asymmetric/fit.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <random>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/linalg/precision.hpp"
#include "poise/model/asymmetric/acceleration.hpp"
#include "poise/model/asymmetric/gauge.hpp"
#include "poise/model/asymmetric/left_factor.hpp"
#include "poise/model/asymmetric/objective.hpp"
#include "poise/model/asymmetric/steps.hpp"
#include "poise/model/low_rank/alternating.hpp"

namespace poise {
namespace {

/// Inner solves leave at most this part of what the round before gained; the first round's leave this part of
/// the explained weight.
constexpr double inner_share = 0.1;
constexpr double first_tolerance = 1e-3;
/// V's solves, the cheaper ones, leave that part of it: rows that end by themselves at what they may leave
/// end elsewhere on another machine.
constexpr double V_share = 0.005;

/// The leading columns that are not zero throughout.
std::int64_t live_columns(const Matrix<float>& A) {
  std::int64_t live = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    for (std::int64_t k = live; k < A.cols(); ++k) {
      if (A(i, k) != 0) live = k + 1;
    }
  }
  return live;
}

class AsymmetricSolver final : public FactorPair {
 public:
  AsymmetricSolver(const AsymmetricProblem& problem, const AsymmetricOptions& options,
                   const Spectrum& spectrum, LeftFactorCache& cache, Backend& backend,
                   const Execution& execution)
      : problem_(problem),
        options_(options),
        spectrum_(spectrum),
        cache_(cache),
        backend_(backend),
        execution_(execution),
        watch_(result_.seconds),
        acceleration_(problem, backend) {}

  LowRankFit run() {
    result_.observed_weight = problem_.W->observed;
    if (closed_form()) {
      take_closed_form();
    } else {
      iterate();
    }
    finish();
    return std::move(result_);
  }

  /// Solves to what `excess_` says, the last round to the tolerance. Sets `converged` when no more is to be
  /// gained, unless the inner solves were too coarse to say so.
  RoundDone round(int number) override {
    const bool last = result_.converged || number == options_.rounds;
    const std::int64_t iterations = one_round(last);
    // A last round that gains shows that the rounds before were too coarse: then there are more.
    return {objective_, iterations, (last && result_.converged) || point_.rank() == 0};
  }

 private:
  /// At W = 1 the closed form is the answer, unless a start was asked for by name.
  [[nodiscard]] bool closed_form() const {
    return problem_.W->uniform() && options_.start == Start::closed_form;
  }
  [[nodiscard]] double explained() const { return std::max(0.0, problem_.W->observed - objective_); }

  void take_closed_form() {
    point_ = from(asymmetric_closed_form(options_.regularizer, spectrum_, options_.rank, options_.lambda));
    complete(problem_, point_, backend_);
    objective_ = asymmetric_objective(problem_, point_, backend_);
    watch_.book("closed form");
    result_.trace.push_back({0, objective_, 0, watch_.total()});
    result_.converged = true;
  }

  void iterate() {
    point_ = options_.start == Start::random
                 ? random_start()
                 : from(asymmetric_closed_form(
                       options_.regularizer, spectrum_, options_.rank,
                       start_lambda(options_.regularizer, spectrum_, options_.rank, options_.lambda)));
    complete(problem_, point_, backend_);
    objective_ = asymmetric_objective(problem_, point_, backend_);
    watch_.book("start");
    result_.trace.push_back({0, objective_, 0, watch_.total()});
    if (point_.rank() == 0) {
      result_.converged = true;
      return;
    }
    const std::uint64_t used =
        asymmetric_memory(problem_.X, options_.rank) +
        sizeof(float) * static_cast<std::uint64_t>(spectrum_.Q.rows() * spectrum_.Q.cols());
    left_ = &cache_.get(problem_.X, *problem_.W, options_.regularizer, options_.lambda, spectrum_,
                        options_.memory_limit - std::min(used, options_.memory_limit), backend_, execution_);
    watch_.book("items x items");
    excess_ = first_tolerance * std::max(explained(), 1e-3 * problem_.W->observed);
    alternate(*this, options_, execution_.observer, watch_, result_);
    if (point_.rank() == 0) result_.converged = true;
  }

  /// Returns the most iterations that a system took.
  std::int64_t one_round(bool last) {
    const double target = last ? std::min(excess_, options_.tolerance * explained()) : excess_;
    AsymmetricPoint next{point_.U.clone(), point_.V.clone(), {}, point_.Z_gram, {}};
    const Steps steps = alternate_once(next, target);
    const double reached = asymmetric_objective(problem_, next, backend_);
    watch_.book("objective");
    const double difference = objective_ - reached;
    const double error = told_apart * problem_.W->observed;
    if (!(difference >= -error)) {
      // Rounding has the better of it: what was reached before stands.
      result_.converged = result_.converged || std::isfinite(reached);
      return steps.iterations;
    }
    double gained = difference < error ? steps.gained : difference;
    if (last || next.rank() != point_.rank() || !acceleration_.advance(next, point_, gained)) {
      const bool same = next.rank() == point_.rank();
      point_ = std::move(next);
      if (!same) acceleration_.restart();
    }
    objective_ -= gained;
    watch_.book("acceleration");
    const double least = std::max(options_.least_decrease, gain_of_rounding) * std::abs(objective_);
    const bool small = gained <= least;
    const double finest = inner_share * least;
    result_.converged = small && (result_.converged || target <= least);
    excess_ = small ? finest : std::clamp(inner_share * gained, finest, std::max(finest, excess_));
    return steps.iterations;
  }

  struct Steps {
    std::int64_t iterations;
    double gained;
  };

  /// V given U, U given V, balanced; in the basis nearest to that of `point_`.
  Steps alternate_once(AsymmetricPoint& next, double target) {
    const double tolerance = explained() > 0 ? target / explained() : first_tolerance;
    const RowsSolved rows =
        solve_V(problem_, next, std::clamp(V_share * tolerance, 1e-13, first_tolerance), backend_);
    watch_.book("V");
    const PcgOutcome outcome = solve_U(problem_, *left_, next, target, backend_, execution_.observer);
    watch_.book("U");
    balance(next);
    acceleration_.align(point_, next);
    complete(problem_, next, backend_);
    watch_.book("balance");
    const std::int64_t most = std::max<std::int64_t>(rows.most_iterations, outcome.iterations);
    return {most, rows.gain + outcome.gained};
  }

  void balance(AsymmetricPoint& next) {
    if (problem_.dropout()) return;
    Matrix<double> K_gram;
    if (problem_.data_metric()) {
      Resident<float> Z(backend_, problem_.X.rows, next.rank());
      backend_.spmm(problem_.X, next.U.view(), Z.view());
      K_gram = backend_.factor_gram(Z.view(), {});
    } else {
      K_gram = backend_.factor_gram(next.U.view(), {});
    }
    const double scale = problem_.data_metric() ? std::sqrt(spectrum_.s[0]) : 1;
    const Gauge gauge = balancing_gauge(K_gram, next.V.view(), scale, backend_);
    next.U = changed(next.U.view(), gauge.T, backend_);
    next.V = changed(next.V.view(), gauge.T_dual, backend_);
  }

  [[nodiscard]] AsymmetricPoint from(const Factors& factors) const {
    const std::int64_t live = std::min(live_columns(factors.U), live_columns(factors.V));
    return {Resident<float>(backend_, with_columns(factors.U, live)),
            Resident<float>(backend_, with_columns(factors.V, live))};
  }

  [[nodiscard]] AsymmetricPoint random_start() const {
    const std::int64_t d = std::min(options_.rank, problem_.X.cols);
    Factors start{Matrix<float>(problem_.X.cols, d), Matrix<float>(problem_.X.cols, d)};
    std::mt19937_64 random(options_.seed);
    const double scale = 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, problem_.X.cols)));
    for (Matrix<float>* const factor : {&start.U, &start.V}) {
      for (std::int64_t i = 0; i < factor->rows(); ++i) {
        for (float& entry : factor->row(i)) {
          const double unit = static_cast<double>(random() >> 11U) * 0x1p-53;
          entry = static_cast<float>(scale * (2 * unit - 1));
        }
      }
    }
    return {Resident<float>(backend_, std::move(start.U)), Resident<float>(backend_, std::move(start.V))};
  }

  /// The saved pair's own objective and certificate, through the data.
  void finish() {
    complete(problem_, point_, backend_);
    result_.objective = asymmetric_objective(problem_, point_, backend_);
    if (!std::isfinite(result_.objective))
      fail(ErrorKind::numerical, "training ended with factors that are not finite; raise {}", "lambda"_p);
    const bool sparse_residual = problem_.data_metric() || options_.lambda == 0;
    LeftFactor top;
    if (closed_form() && !sparse_residual) {
      top = left_factor_of(spectrum_, backend_);
      left_ = &top;
    }
    const double of_V = V_excess(problem_, point_, backend_);
    const double of_U = closed_form() && sparse_residual ? unweighted_U_excess(problem_, point_, backend_)
                                                         : U_excess(problem_, *left_, point_, backend_);
    result_.certificate.absolute = std::max(of_U, of_V);
    const double explained = problem_.W->observed - result_.objective;
    result_.certificate.relative = explained > 0 ? result_.certificate.absolute / explained : 0;
    result_.live_directions = point_.rank();
    result_.U = with_columns(point_.U.take(), options_.rank);
    result_.V = with_columns(point_.V.take(), options_.rank);
    watch_.book("certificate");
  }

  const AsymmetricProblem& problem_;
  const AsymmetricOptions& options_;
  const Spectrum& spectrum_;
  LeftFactorCache& cache_;
  Backend& backend_;
  const Execution& execution_;
  LowRankFit result_;
  Stopwatch watch_;
  LeftFactor none_;
  const LeftFactor* left_ = &none_;
  AsymmetricPoint point_;
  RoundAcceleration acceleration_;
  double objective_ = 0;
  double excess_ = 0;  ///< what inner solves may leave
};

}  // namespace

std::uint64_t asymmetric_memory(CsrView X, std::int64_t rank) {
  const auto d = static_cast<std::uint64_t>(rank);
  const auto m = static_cast<std::uint64_t>(X.rows);
  const auto n = static_cast<std::uint64_t>(X.cols);
  const auto entries = static_cast<std::uint64_t>(X.entries());
  // Z, its successor, the step's, and the U step's two blocks; factors, gradients, directions and conjugate
  // gradients; X', entries by users and by items, scores along a line.
  return 4 * d * (5 * m + 16 * n) + 8 * 28 * d * d + 4 * entries * (1 + 6 + 5);
}

LowRankFit fit_asymmetric(CsrView X, const Weights& W, const AsymmetricOptions& options,
                          const Spectrum& spectrum, Backend& backend, const Execution& execution,
                          LeftFactorCache* cache) {
  validate(options);
  assert(spectrum.pairs() >= std::min(options.rank, X.cols));
  check_memory(options, asymmetric_memory(X, std::min(options.rank, X.cols)));
  const AsymmetricProblem problem =
      make_asymmetric_problem(X, W, options.regularizer, options.lambda, backend, execution);
  LeftFactorCache own;
  return AsymmetricSolver(problem, options, spectrum, cache != nullptr ? *cache : own, backend, execution)
      .run();
}

}  // namespace poise
