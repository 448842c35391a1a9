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

/// The first round's inner solves leave this part of the explained weight.
constexpr double first_tolerance = 1e-3;
/// Those of rounds that begin at an earlier model's factors, which lack no more than what changed since.
constexpr double warm_tolerance = 1e-5;
/// V's solves, which are cheaper, leave this part of that: rows that stop as soon as they may would stop at
/// different factors on different machines.
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

class AsymmetricPair final : public FactorPair {
 public:
  AsymmetricPair(const AsymmetricProblem& problem, const AsymmetricOptions& options, const Spectrum& spectrum,
                 LeftFactorCache& cache, const Factors* earlier, Backend& backend, const Execution& execution,
                 Stopwatch& watch)
      : problem_(problem),
        options_(options),
        warm_(earlier != nullptr),
        spectrum_(spectrum),
        backend_(backend),
        execution_(execution),
        watch_(watch),
        acceleration_(problem, backend) {
    point_ = warm_ ? resident(*earlier) : options.start == Start::random ? random_start() : closed_form();
    complete(problem, point_, backend);
    objective_ = asymmetric_objective(problem, point_, backend);
    watch.book(solved() ? "closed form" : "start");
    if (solved() || point_.rank() == 0) return;
    const std::uint64_t used =
        asymmetric_memory(problem.X, options.rank) +
        sizeof(float) * static_cast<std::uint64_t>(spectrum.Q.rows() * spectrum.Q.cols());
    left_ = &cache.get(problem.X, *problem.W, options.regularizer, options.lambda, spectrum,
                       options.memory_limit - std::min(used, options.memory_limit), backend, execution);
    watch.book("items x items");
  }

  /// At W = 1 the closed form is the solution, unless the options choose another start.
  [[nodiscard]] bool solved() const override {
    return !warm_ && problem_.W->uniform() && options_.start == Start::closed_form;
  }
  [[nodiscard]] std::int64_t live() const override { return point_.rank(); }
  [[nodiscard]] double coarsest() const override {
    return (warm_ ? warm_tolerance : first_tolerance) * std::max(explained(), 1e-3 * problem_.W->observed);
  }
  Factors take() override { return {point_.U.take(), point_.V.take()}; }

  void save(RoundState& state) const override {
    state.put("U", point_.U);
    state.put("V", point_.V);
    state.put("Z", point_.Z);
    state.put("scores", point_.scores);
    state.numbers["Z gram"] = point_.Z_gram;
    state.put("objective", objective_);
    acceleration_.save(state);
  }

  void restore(const RoundState& state) override {
    point_ = {state.factor("U", backend_), state.factor("V", backend_), state.factor("Z", backend_),
              state.numbers.at("Z gram"), state.factor("scores", backend_)};
    objective_ = state.number("objective");
    acceleration_.restore(state);
  }

  RoundDone round(double excess, bool last) override {
    const double target = last ? std::min(excess, options_.tolerance * explained()) : excess;
    AsymmetricPoint next{point_.U.clone(), point_.V.clone(), {}, point_.Z_gram, {}};
    const Steps steps = alternate_once(next, target);
    const double reached = asymmetric_objective(problem_, next, backend_);
    watch_.book("objective");
    RoundDone done{.before = objective_,
                   .objective = objective_,
                   .resolution = target,
                   .iterations = steps.iterations,
                   .end = std::isfinite(reached) ? RoundEnd::stands : RoundEnd::failed};
    const double difference = objective_ - reached;
    const double error = told_apart * problem_.W->observed;
    if (!(difference >= -error)) return done;
    done.end = RoundEnd::lower;
    done.gained = difference < error ? steps.gained : difference;
    if (last || next.rank() != point_.rank() || !acceleration_.advance(next, point_, done.gained)) {
      const bool same = next.rank() == point_.rank();
      point_ = std::move(next);
      if (!same) acceleration_.restart();
    }
    objective_ -= done.gained;
    done.objective = objective_;
    watch_.book("acceleration");
    return done;
  }

  CheckedPair check() override {
    complete(problem_, point_, backend_);
    const double objective = asymmetric_objective(problem_, point_, backend_);
    if (!std::isfinite(objective)) return {objective, 0};
    const double of_V = V_excess(problem_, point_, backend_);
    const double of_U = checked_U_excess();
    watch_.book("certificate");
    return {objective, std::max(of_U, of_V)};
  }

 private:
  [[nodiscard]] double explained() const { return std::max(0.0, problem_.W->observed - objective_); }

  [[nodiscard]] double checked_U_excess() const {
    if (point_.rank() == 0) return 0;
    if (!solved()) return U_excess(problem_, *left_, point_, backend_);
    if (problem_.data_metric() || options_.lambda == 0)
      return unweighted_U_excess(problem_, point_, backend_);
    return U_excess(problem_, left_factor_of(spectrum_, backend_), point_, backend_);
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
    const Gauge gauge = balancing_gauge(roots_of(K_gram, gram_cut_off, backend_),
                                        backend_.factor_gram(next.V.view(), {}), scale, backend_);
    next.U = changed(next.U.view(), gauge.T, backend_);
    next.V = changed(next.V.view(), gauge.T_dual, backend_);
  }

  [[nodiscard]] AsymmetricPoint closed_form() const {
    const double lambda = solved()
                              ? options_.lambda
                              : start_lambda(options_.regularizer, spectrum_, options_.rank, options_.lambda);
    const Factors factors = asymmetric_closed_form(options_.regularizer, spectrum_, options_.rank, lambda);
    return resident(factors);
  }

  /// The directions that are alive.
  [[nodiscard]] AsymmetricPoint resident(const Factors& factors) const {
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

  const AsymmetricProblem& problem_;
  const AsymmetricOptions& options_;
  bool warm_;
  const Spectrum& spectrum_;
  Backend& backend_;
  const Execution& execution_;
  Stopwatch& watch_;
  const LeftFactor* left_ = nullptr;
  AsymmetricPoint point_;
  RoundAcceleration acceleration_;
  double objective_ = 0;
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
                          LeftFactorCache* cache, RoundCheckpoint* checkpoint, const Factors* earlier,
                          Processes* processes) {
  validate(options);
  assert(spectrum.pairs() >= std::min(options.rank, X.cols));
  check_memory(options, asymmetric_memory(X, std::min(options.rank, X.cols)));
  LowRankFit fit;
  Stopwatch watch(fit.seconds);
  const AsymmetricProblem problem =
      make_asymmetric_problem(X, W, options.regularizer, options.lambda, backend, execution, processes);
  AsymmetricOptions possible = options;
  possible.least_decrease = std::max(options.least_decrease, gain_of_rounding);
  LeftFactorCache own;
  AsymmetricPair pair(problem, possible, spectrum, cache != nullptr ? *cache : own, earlier, backend,
                      execution, watch);
  alternate(pair, possible, W.observed, execution.observer, watch, fit, checkpoint);
  return fit;
}

}  // namespace poise
