#include "poise/model/full_rank/fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/linalg/precision.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/model/full_rank/full_rank_solver.hpp"
#include "poise/model/full_rank/inverse.hpp"
#include "poise/model/full_rank/start.hpp"
#include "poise/model/full_rank/variant.hpp"

namespace poise {

namespace {

/// Tries one precision; false if it cannot hold the inverse. `complete` computes the rest of the problem once
/// the inverse is known.
template <class T>
bool fit_in(const ColumnProblem& problem, const std::function<const ColumnData&()>& complete,
            const FullRankOptions& options, FullRankBasis& basis, bool keep, Backend& backend,
            const Execution& execution, DenseCheckpoint* checkpoint, FullRankFit& result,
            const FullRankStart* start = nullptr) {
  Stopwatch watch(result.seconds);
  FullRankBasis::Inverse<T>& inverse = basis.inverse<T>();
  if (checkpoint != nullptr && checkpoint->has_inverse<T>()) {
    inverse.matrix = Resident<T>(backend, problem.items(), problem.items());
    checkpoint->load_inverse<T>(inverse.matrix.view(), backend, result);
  } else {
    if (!invert_shared_system<T>(problem, basis, backend, execution, watch, result.condition)) return false;
    if (checkpoint != nullptr)
      checkpoint->save_inverse<T>(std::as_const(inverse.matrix).view(), backend, result);
  }
  if (checkpoint != nullptr) watch.book("checkpoint");
  const ColumnData& data = complete();
  std::vector<std::pair<bool, std::future<Matrix<float>>>> wanted;  // and where it goes
  for (const bool zero_diagonal : {false, true}) {
    if (!(zero_diagonal ? options.zero_diagonal : options.unconstrained)) continue;
    wanted.emplace_back(zero_diagonal, !backend.traits().leaves_processor_free
                                           ? std::future<Matrix<float>>()
                                           : room_for(problem.items(), execution.threads));
  }
  const WholeInverse<T> A_inverse(basis.inverse<T>().matrix.view(), backend);
  const ColumnChecker<T> checker(data, A_inverse, basis.gram().view());
  const ColumnSolver<T> solver(checker, options.tolerance, !backend.traits().cheap_gathers, start != nullptr);
  const bool whole = start == nullptr ? measured_whole(problem, options) : measured_in_a_moment(problem);
  // Only what comes directly from a float32 inverse: of that, f_i is as exact as the columns are.
  const bool unmeasured = start != nullptr && !whole && !problem.weighted() && problem.features.empty() &&
                          std::is_same_v<T, float>;
  const FullRankWork<T> work{problem,   options, data,   checker, solver,     whole,     backend,
                             execution, watch,   result, nullptr, checkpoint, unmeasured};
  std::vector<FullRankVariant<T>> variants;
  variants.reserve(wanted.size());
  for (auto& [zero_diagonal, room] : wanted) variants.emplace_back(work, zero_diagonal, std::move(room));
  watch.book("data");
  FullRankSolver<T>(work, basis, keep, variants, start).solve();
  for (FullRankVariant<T>& variant : variants) {
    result.solutions.push_back(variant.take());
    watch.book("columns");
  }
  return true;
}

}  // namespace

FullRankFit fit_full_rank(CsrView X, const Weights& W, const FullRankOptions& options, Backend& backend,
                          const Execution& execution, FullRankBasis* basis, const CsrView* target,
                          DenseCheckpoint* checkpoint) {
  validate(options);
  FullRankFit result;
  Stopwatch watch(result.seconds);
  if (target != nullptr && options.zero_diagonal)
    fail(ErrorKind::usage, "a zero diagonal is defined for an autoencoder only, not with another target");
  if (target != nullptr && options.with_features())
    fail(ErrorKind::usage, "features are defined for an autoencoder only, not with another target");
  check_full_rank_memory(X, W, options);
  if (backend.traits().own_memory) check_full_rank_gpu_memory(X, W, options, backend.memory_bytes());
  ColumnProblem problem = begin_column_problem(X, W, full_rank_lambda(X, options), target);
  set_features(problem, options.features, options.feature_weight);
  // While the backend makes the inverse, unless the processor is busy with that itself.
  const bool beside = backend.traits().leaves_processor_free;
  std::future<Csr> columns = std::async(beside ? std::launch::async : std::launch::deferred,
                                        [&] { return columns_of_weights(X, W, execution.threads); });
  std::optional<ColumnData> data;
  const auto complete = [&]() -> const ColumnData& {
    if (!data) {
      problem.columns = columns.get();
      data.emplace(problem, backend, execution);
    }
    return *data;
  };
  if (!beside) complete();
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
  // What reached float64 once needs no float32.
  if (checkpoint == nullptr || !checkpoint->has_inverse<double>())
    fit_in<float>(problem, complete, options, used, keep, backend, execution, checkpoint, result);
  FullRankOptions left = options;
  for (const FullRankSolution& solution : result.solutions) {
    if (solution.good()) (solution.zero_diagonal ? left.zero_diagonal : left.unconstrained) = false;
  }
  if (!left.unconstrained && !left.zero_diagonal) return result;

  // A float64 inverse takes twice the memory. If that does not fit, the float32 result is kept, with its
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
    result.float64 =
        fit_in<double>(problem, complete, left, used, keep, backend, execution, checkpoint, result);
  } catch (const Error& error) {
    // A GPU says only then that its memory is too small.
    if (error.kind() != ErrorKind::resources || reached.empty()) throw;
    result.solutions.clear();
  }
  if (!result.float64 && reached.empty()) fail_as_singular(result.condition);
  for (FullRankSolution& solution : reached) {
    if (!result.float64 || solution.good()) result.solutions.push_back(std::move(solution));
  }
  std::ranges::sort(result.solutions, {}, &FullRankSolution::zero_diagonal);
  for (const FullRankSolution& solution : result.solutions) refuse_nonsense(solution, X, W);
  return result;
}

FullRankFit continue_full_rank(CsrView X, const Weights& W, const FullRankOptions& options,
                               const FullRankStart& start, FullRankBasis& basis, Backend& backend,
                               const Execution& execution) {
  validate(options);
  FullRankFit result;
  ColumnProblem problem = begin_column_problem(X, W, start.l);
  problem.b_bar = start.b_bar;
  set_features(problem, options.features, options.feature_weight);
  problem.columns = columns_of_weights(X, W, execution.threads);
  const ColumnData data(problem, backend, execution);
  const auto complete = [&]() -> const ColumnData& { return data; };
  CsrView support = X;
  support.values = {};
  const Pin pinned = backend.pin(support);
  result.tensor_cores = !start.float64 && backend.splits_products(X.cols);
  result.float64 = start.float64;
  // The ladder of training: the changed A may need float64, which nothing but a new inverse gives.
  if (!start.float64) {
    const WholeInverse<float> A_inverse(basis.inverse<float>().matrix.view(), backend);
    const double condition = condition_of<float>(data.shared_system(), A_inverse, float32_condition);
    result.condition = condition;
    if (!(condition <= float32_condition)) return result;
    basis.inverse<float>().outcome->condition = condition;
  }
  if (start.float64) {
    fit_in<double>(problem, complete, options, basis, true, backend, execution, nullptr, result, &start);
  } else {
    fit_in<float>(problem, complete, options, basis, true, backend, execution, nullptr, result, &start);
  }
  return result;
}

}  // namespace poise
