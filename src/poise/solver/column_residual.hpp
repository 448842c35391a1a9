#pragma once

#include <span>

#include "poise/base/parallel.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/column_problem.hpp"

namespace poise {

/// Figures of one saved column beta of B, from the data in float64.
struct ColumnFigures {
  double observed = 0;   ///< sum_u W_ui Y_ui^2: the objective of beta = 0
  double objective = 0;  ///< sum_u W_ui (Y_ui - x_u . beta)^2 + sum_j l_j beta_j^2
};

/// The true residual of saved columns: for each k, with i = items[k] and beta = row k of `beta` (k x n),
///
///     rho_k = X'(W_:i o (Y_:i - X beta)) - Lambda beta,
///
/// through the data and in float64, independent of how beta was computed; without features
/// (solver/feature_residual.hpp). If `rho` (k x n) has no rows, only
/// the figures are computed. 2 nnz operations per column, twice that with rho; columns in groups of 32, one
/// group per thread.
void column_residuals(const ColumnProblem& problem, std::span<const std::int32_t> items,
                      MatrixView<const float> beta, MatrixView<double> rho, std::span<ColumnFigures> figures,
                      const Execution& execution);

}  // namespace poise
