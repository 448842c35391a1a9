#include "poise/model/asymmetric_fit.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/linalg/precision.hpp"
#include "poise/model/asymmetric_gauge.hpp"
#include "poise/model/asymmetric_objective.hpp"
#include "poise/model/asymmetric_steps.hpp"
#include "poise/model/left_factor.hpp"

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

class AsymmetricSolver {
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
        watch_(result_.seconds) {}

  LowRankFit run() {
    result_.observed_weight = problem_.W->observed;
    if (closed_form()) {
      take_closed_form();
    } else {
      alternate();
    }
    finish();
    return std::move(result_);
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
    record(0, 0);
    result_.converged = true;
  }

  void alternate() {
    point_ = options_.start == Start::random
                 ? random_start()
                 : from(asymmetric_closed_form(
                       options_.regularizer, spectrum_, options_.rank,
                       start_lambda(options_.regularizer, spectrum_, options_.rank, options_.lambda)));
    complete(problem_, point_, backend_);
    objective_ = asymmetric_objective(problem_, point_, backend_);
    watch_.book("start");
    record(0, 0);
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
    Progress progress(execution_.observer, "training", 0, "rounds");  // it may end at any
    excess_ = first_tolerance * std::max(explained(), 1e-3 * problem_.W->observed);
    for (int number = 1; number <= options_.rounds; ++number) {
      const bool last = result_.converged || number == options_.rounds;
      round(number, last);
      progress.advance(1);
      // A last round that gains shows that the rounds before were too coarse: then there are more.
      if ((last && result_.converged) || point_.rank() == 0) break;
    }
    if (point_.rank() == 0) result_.converged = true;
  }

  /// Solves to what `excess_` says, the last round to the tolerance. Sets `converged` when no more is to be
  /// gained, unless the inner solves were too coarse to say so.
  void round(int number, bool last) {
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
      record(number, steps.iterations);
      return;
    }
    double gained = difference < error ? steps.gained : difference;
    if (last || next.rank() != point_.rank() || !accelerate(next, gained)) {
      const bool same = next.rank() == point_.rank();
      point_ = std::move(next);
      if (!same) step_ = {};
    }
    objective_ -= gained;
    watch_.book("acceleration");
    record(number, steps.iterations);
    const double least = std::max(options_.least_decrease, gain_of_rounding) * std::abs(objective_);
    const bool small = gained <= least;
    const double finest = inner_share * least;
    result_.converged = small && (result_.converged || target <= least);
    excess_ = small ? finest : std::clamp(inner_share * gained, finest, std::max(finest, excess_));
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
    align(next);
    complete(problem_, next, backend_);
    watch_.book("balance");
    const std::int64_t most = std::max<std::int64_t>(rows.most_iterations, outcome.iterations);
    result_.iterations = std::max(result_.iterations, most);
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

  /// The inner product of two matrices.
  [[nodiscard]] double inner(const Resident<float>& A, const Resident<float>& B) const {
    std::vector<double> dots(A.rows());
    backend_.row_dots(A.view(), B.view(), dots);
    return std::accumulate(dots.begin(), dots.end(), 0.0);
  }

  /// to = plus - minus + beta to.
  void combine(const Resident<float>& plus, const Resident<float>& minus, double beta, Resident<float>& to) {
    std::vector<Term<float>> terms = {{.x = plus.view()}, {.x = minus.view(), .scale = -1}};
    if (beta != 0) terms.push_back({.x = to.view(), .scale = beta});
    backend_.combine(terms, to.view());
  }

  /// U weighs as much as V in inner products of pairs.
  [[nodiscard]] double U_weight() const {
    const double U = inner(point_.U, point_.U);
    return U > 0 ? inner(point_.V, point_.V) / U : 0;
  }

  void align(AsymmetricPoint& next) {
    if (next.rank() != point_.rank()) return;
    Matrix<double> product = backend_.factor_product(next.V.view(), {}, point_.V.view());
    const Matrix<double> of_U = backend_.factor_product(next.U.view(), {}, point_.U.view());
    const double weight = U_weight();
    for (std::int64_t i = 0; i < product.rows(); ++i) {
      for (std::int64_t j = 0; j < product.cols(); ++j) product(i, j) += weight * of_U(i, j);
    }
    const Matrix<double> rotation = nearest_rotation(std::move(product), backend_);
    next.U = changed(next.U.view(), rotation, backend_);
    next.V = changed(next.V.view(), rotation, backend_);
  }

  /// Polak and Ribiere's direction with the round as the preconditioned gradient g, and the best step along
  /// it; false when that is no better than the round itself, `gained` being what either gained.
  bool accelerate(const AsymmetricPoint& next, double& gained) {
    const double weight = U_weight();
    AsymmetricPoint gradient{Resident<float>(backend_, next.U.rows(), next.rank()),
                             Resident<float>(backend_, next.V.rows(), next.rank())};
    combine(next.U, point_.U, 0, gradient.U);
    combine(next.V, point_.V, 0, gradient.V);
    double beta = 0;
    if (step_.rank() == point_.rank()) {
      const double mixed = weight * inner(gradient.U, gradient_.U) + inner(gradient.V, gradient_.V);
      const double own = weight * inner(gradient.U, gradient.U) + inner(gradient.V, gradient.V);
      const double former = weight * inner(gradient_.U, gradient_.U) + inner(gradient_.V, gradient_.V);
      beta = former > 0 ? std::max(0.0, (own - mixed) / former) : 0;
    } else {
      step_ = {Resident<float>(backend_, next.U.rows(), next.rank()),
               Resident<float>(backend_, next.V.rows(), next.rank()),
               Resident<float>(backend_, next.Z.rows(), next.rank())};
    }
    gradient_ = std::move(gradient);
    combine(next.U, point_.U, beta, step_.U);
    combine(next.V, point_.V, beta, step_.V);
    // Not from the former Z: after a round that changed next to nothing beta is large and makes of its
    // rounding a Z that no U has.
    backend_.spmm(problem_.X, step_.U.view(), step_.Z.view());
    const AsymmetricLine line(problem_, point_, step_, backend_);
    const double t = line.best();
    if (!(line.decrease(t) > gained)) {
      step_ = {};
      return false;
    }
    line.move(t, step_, point_);
    gained = line.decrease(t);
    return true;
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

  void record(int number, std::int64_t iterations) {
    result_.rounds = number;
    result_.trace.push_back({number, objective_, iterations, watch_.total()});
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
  AsymmetricPoint step_;      ///< the last direction, with its Z
  AsymmetricPoint gradient_;  ///< the last round's change
  double objective_ = 0;
  double excess_ = 0;  ///< what inner solves may leave
};

}  // namespace

void validate(const AsymmetricOptions& options) {
  if (options.rank < 1) fail(ErrorKind::usage, "{} {} is out of range: at least 1", "rank"_p, options.rank);
  if (!(options.lambda >= 0) || !std::isfinite(options.lambda)) {
    fail(ErrorKind::usage, "{} {} is out of range: it must be finite and not negative", "lambda"_p,
         options.lambda);
  }
  if (!(options.least_decrease >= 0))
    fail(ErrorKind::usage, "{} {} is out of range: at least 0", "least-decrease"_p, options.least_decrease);
  if (options.rounds < 0)
    fail(ErrorKind::usage, "{} {} is out of range: at least 0", "rounds"_p, options.rounds);
  if (!(options.tolerance > 0 && options.tolerance < 1)) {
    fail(ErrorKind::usage, "{} {} is out of range: it must be between 0 and 1", "tolerance"_p,
         options.tolerance);
  }
}

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
  if (const std::uint64_t needed = asymmetric_memory(X, std::min(options.rank, X.cols));
      needed > options.memory_limit) {
    const auto [needed_text, limit] =
        compared_bytes(static_cast<double>(needed), static_cast<double>(options.memory_limit));
    fail(ErrorKind::resources, "rank {} needs {} for its factors; raise {}, now {}, or lower {}",
         options.rank, needed_text, "memory-limit"_p, limit, "rank"_p);
  }
  const AsymmetricProblem problem =
      make_asymmetric_problem(X, W, options.regularizer, options.lambda, backend, execution);
  LeftFactorCache own;
  return AsymmetricSolver(problem, options, spectrum, cache != nullptr ? *cache : own, backend, execution)
      .run();
}

}  // namespace poise
