#include "poise/model/full_rank/certify.hpp"

#include <utility>

#include "poise/backend/resident.hpp"
#include "poise/base/error.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/model/full_rank/cost.hpp"
#include "poise/model/full_rank/inverse.hpp"
#include "poise/solver/block_residual.hpp"
#include "poise/solver/column_certificate.hpp"
#include "poise/solver/column_checker.hpp"

namespace poise {

namespace {

/// A model whose excess is more than this of what it explains was not meant to be the optimum (only its
/// largest entries were kept, say): its columns are not checked one by one.
constexpr double hopeless = 1e-2;

class Check {
 public:
  Check(const ColumnProblem& problem, const FullRankOptions& options, Matrix<float> columns, Backend& backend,
        const Execution& execution)
      : problem_(problem),
        options_(options),
        columns_(backend, std::move(columns)),
        backend_(backend),
        execution_(execution),
        data_(problem, backend, execution),
        proof_(data_.shared_system(), data_.observed(), options.zero_diagonal, backend, execution),
        measured_whole_(measured_whole(problem, options)) {}

  FullRankCheck run() {
    if (problem_.weighted()) proof_.expect_iterated_columns();
    add_all();
    if (!problem_.weighted()) {
      InverseOfColumns P(columns_.view(), inverse_factors(), backend_);
      proof_.prove(P, columns_.view(), options_.tolerance);
    }
    if (problem_.weighted() || !proof_.settled() || !proof_.missing(options_.tolerance).empty()) {
      FullRankBasis basis;
      if (!prove_by_inverse<float>(basis) && !prove_by_inverse<double>(basis)) {
        fail(ErrorKind::numerical,
             "X'X + Lambda is singular to working precision even in float64 (condition {:.1e}): nothing "
             "can be "
             "proven of this model",
             condition_);
      }
    }
    return result();
  }

 private:
  using Items = std::vector<std::int32_t>;

  void add_all() {
    explained_.resize(problem_.items());
    for_each_block(
        numbers_from(0, problem_.items()), full_rank_block, execution_, "reading the model",
        [&](std::span<const std::int32_t> part) {
          const In<float> beta = columns_.view().block(part.front(), static_cast<std::int64_t>(part.size()));
          const std::vector<double> explained = data_.explained(part, beta);
          std::copy(explained.begin(), explained.end(), explained_.begin() + part.front());
          std::vector<double> objectives;
          if (measured_whole_) {
            Matrix<float> home(beta.rows, beta.cols);
            backend_.download(beta, home.view());
            std::vector<ColumnFigures> figures(part.size());
            block_residuals(problem_, data_.users_of(), part, home.view(), {}, figures, backend_, execution_);
            for (const ColumnFigures& column : figures) objectives.push_back(column.objective);
            objective_ += sum_of(objectives);
          }
          proof_.add(part, beta, explained, options_.zero_diagonal ? objectives : std::vector<double>(), {});
        });
  }

  /// 1 / l_i, or (A^-1)_ii, which is 1 / (R_ii + l_i) at the optimum with a zero diagonal.
  [[nodiscard]] std::vector<double> inverse_factors() const {
    std::vector<double> p = problem_.l;
    for (std::size_t i = 0; i < p.size(); ++i)
      p[i] = 1 / (p[i] + (options_.zero_diagonal ? data_.observed()[i] - explained_[i] : 0.0));
    return p;
  }

  /// False if this precision cannot hold the inverse, or float64 may prove more.
  template <class T>
  bool prove_by_inverse(FullRankBasis& basis) {
    Stopwatch watch(seconds_);
    if (!invert_shared_system<T>(problem_, basis, backend_, execution_, watch, condition_)) return false;
    const WholeInverse<T> A_inverse(std::as_const(basis.inverse<T>().matrix).view(), backend_);
    const ColumnChecker<T> checker(data_, A_inverse, std::as_const(basis.gram()).view());
    ComputedInverse<T> P(A_inverse);
    if (options_.zero_diagonal && !problem_.weighted() && !measured_whole_) {
      std::vector<double> own = checker.inverse_diagonal();
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = 1 / own[i] - problem_.l[i];
      proof_.suggest_multipliers(std::move(own));
    }
    proof_.prove(P, columns_.view(), options_.tolerance);
    if (std::is_same_v<T, float> && !proof_.settled()) return false;
    const Items missing = proof_.missing(options_.tolerance);
    const double explained = sum_of(explained_);
    if (missing.empty() || !(proof_.certificate().absolute <= hopeless * explained)) return true;
    for_each_block(
        missing, full_rank_block, execution_, "looking at columns", [&](std::span<const std::int32_t> part) {
          Resident<float> beta(backend_, static_cast<std::int64_t>(part.size()), problem_.items());
          backend_.copy_rows(std::as_const(columns_).view(), part, beta.view(), {});
          const std::vector<CheckedColumn> checked =
              checker.check(part, options_.zero_diagonal, std::as_const(beta).view()).columns;
          for (std::size_t k = 0; k < part.size(); ++k) {
            const ColumnFigures& figures = checked[k].figures;
            proof_.verify(part[k], figures.observed - figures.objective, checked[k].excess, checked[k].ratio);
          }
        });
    proof_.prove_again(P, columns_.view());
    return true;
  }

  [[nodiscard]] FullRankCheck result() {
    FullRankCheck check;
    check.observed_weight = observed_weight(problem_);
    check.objective = objective_;
    if (!measured_whole_) {
      const EstimatedObjective estimate = proof_.objective();
      check.objective = estimate.value;
      check.objective_error = estimate.error;
    }
    check.certificate = proof_.certificate();
    check.missing = static_cast<std::int64_t>(proof_.missing(options_.tolerance).size());
    check.converged = check.missing == 0;
    return check;
  }

  const ColumnProblem& problem_;
  const FullRankOptions& options_;
  Resident<float> columns_;
  Backend& backend_;
  const Execution& execution_;
  ColumnData data_;
  ColumnCertificate proof_;
  bool measured_whole_;
  double objective_ = 0;
  std::vector<double> explained_;
  std::map<std::string, double> seconds_;
  double condition_ = 0;
};

}  // namespace

FullRankCheck certify_full_rank(CsrView X, const Weights& W, const FullRankOptions& options,
                                Matrix<float> columns, Backend& backend, const Execution& execution) {
  validate(options);
  for (std::int64_t i = 0; options.zero_diagonal && i < columns.rows(); ++i) {
    if (columns(i, i) != 0)
      fail(ErrorKind::input, "entry {} of the diagonal is {}, and the model says that it is 0", i,
           columns(i, i));
  }
  check_full_rank_memory(X, W, options);
  ColumnProblem problem = make_column_problem(X, W, full_rank_lambda(X, options), nullptr, execution.threads);
  set_features(problem, options.features, options.feature_weight);
  CsrView support = X;
  support.values = {};
  const Pin pinned = backend.pin(support);
  return Check(problem, options, std::move(columns), backend, execution).run();
}

}  // namespace poise
