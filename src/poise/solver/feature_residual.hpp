#pragma once

#include <cstdint>
#include <span>

#include "poise/backend/backend.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/column_problem.hpp"
#include "poise/solver/column_residual.hpp"

namespace poise {

/// What the features of a problem add to the residuals and figures of saved columns, which know those of the
/// users: for each k, with i = items[k] and q = e_i - beta,
///
///     rho_k += b_i beta F'F q,   objective_k += b_i beta | F q |^2.
///
/// If `rho` has no rows, only the figures are computed. 4 entries(F) operations a column.
void add_feature_residuals(const ColumnProblem& problem, std::span<const std::int32_t> items,
                           MatrixView<const float> beta, MatrixView<double> rho,
                           std::span<ColumnFigures> figures, Backend& backend);

}  // namespace poise
