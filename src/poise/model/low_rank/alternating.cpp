#include "poise/model/low_rank/alternating.hpp"

#include <algorithm>
#include <cmath>

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"

namespace poise {

void alternate(FactorPair& pair, const LowRankOptions& options, Observer* observer, const Stopwatch& watch,
               LowRankFit& fit) {
  Progress progress(observer, "training", 0, "rounds");  // it may end at any
  for (int number = 1; number <= options.rounds; ++number) {
    const RoundDone done = pair.round(number);
    fit.rounds = number;
    fit.iterations = std::max(fit.iterations, done.iterations);
    fit.trace.push_back({number, done.objective, done.iterations, watch.total()});
    progress.advance(1);
    if (done.last) break;
  }
}

void validate(const LowRankOptions& options) {
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

void check_memory(const LowRankOptions& options, std::uint64_t needed) {
  if (needed <= options.memory_limit) return;
  const auto [needed_text, limit] =
      compared_bytes(static_cast<double>(needed), static_cast<double>(options.memory_limit));
  fail(ErrorKind::resources, "rank {} needs {} for its factors; raise {}, now {}, or lower {}", options.rank,
       needed_text, "memory-limit"_p, limit, "rank"_p);
}

Matrix<float> with_columns(Matrix<float> A, std::int64_t columns) {
  if (A.cols() == columns) return A;
  Matrix<float> result(A.rows(), columns);
  for (std::int64_t i = 0; i < A.rows(); ++i)
    std::copy_n(A.row(i).begin(), std::min(columns, A.cols()), result.row(i).begin());
  return result;
}

}  // namespace poise
