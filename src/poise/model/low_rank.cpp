#include "poise/model/low_rank.hpp"

#include <algorithm>
#include <cmath>

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"

namespace poise {

void validate(const LowRankOptions& options) {
  if (options.rank < 1) fail(ErrorKind::usage, "--rank {} is out of range: at least 1", options.rank);
  if (!(options.lambda >= 0) || !std::isfinite(options.lambda)) {
    fail(ErrorKind::usage, "--lambda {} is out of range: it must be finite and not negative", options.lambda);
  }
  if (!(options.least_decrease >= 0))
    fail(ErrorKind::usage, "--least-decrease {} is out of range: at least 0", options.least_decrease);
  if (options.rounds < 0) fail(ErrorKind::usage, "--rounds {} is out of range: at least 0", options.rounds);
  if (!(options.tolerance > 0 && options.tolerance < 1)) {
    fail(ErrorKind::usage, "--tolerance {} is out of range: it must be between 0 and 1", options.tolerance);
  }
}

void check_memory(const LowRankOptions& options, std::uint64_t needed) {
  if (needed <= options.memory_limit) return;
  const auto [needed_text, limit] =
      compared_bytes(static_cast<double>(needed), static_cast<double>(options.memory_limit));
  fail(ErrorKind::resources,
       "rank {} needs {} for its factors; raise --memory-limit, now {}, or lower --rank", options.rank,
       needed_text, limit);
}

Matrix<float> with_columns(Matrix<float> A, std::int64_t columns) {
  if (A.cols() == columns) return A;
  Matrix<float> result(A.rows(), columns);
  for (std::int64_t i = 0; i < A.rows(); ++i)
    std::copy_n(A.row(i).begin(), std::min(columns, A.cols()), result.row(i).begin());
  return result;
}

}  // namespace poise
