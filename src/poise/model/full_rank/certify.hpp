#pragma once

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/solver/certificate.hpp"

namespace poise {

/// What is proven of a saved B of any origin.
struct FullRankCheck {
  double objective = 0;
  double objective_error = 0;  ///< see FullRankSolution
  double observed_weight = 0;
  Certificate certificate;
  bool converged = false;    ///< whether certificate.worst_column is within the tolerance
  std::int64_t missing = 0;  ///< columns that are not
};

/// The certificate of any B for the problem of these options (options.zero_diagonal says which), from the
/// data alone, by the proof that training uses (solver/column_certificate.hpp). `columns` is B', so that row
/// i is column i; for the zero diagonal B_ii must be 0: Error{input} if it is not. A sound unweighted model
/// is proven from itself; other models need the inverse of A again, and columns that may miss the tolerance
/// are checked one by one.
FullRankCheck certify_full_rank(CsrView X, const Weights& W, const FullRankOptions& options,
                                Matrix<float> columns, Backend& backend, const Execution& execution);

}  // namespace poise
