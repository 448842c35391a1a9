#pragma once

#include <span>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/column_problem.hpp"
#include "poise/solver/column_residual.hpp"

namespace poise {

/// The true residual of saved columns, as column_residuals computes it, but by two sparse-dense products,
/// several times as fast: rho_k = X'(W_:i o (X_:i - X beta)) - Lambda beta. For an autoencoder (target X)
/// only.
///
/// If `rho` has no rows, only the figures are computed. `users_of` (items x users) is X' with the weights
/// W_ui as values. Memory: 64 numbers a user.
void block_residuals(const ColumnProblem& problem, CsrView users_of, std::span<const std::int32_t> items,
                     MatrixView<const float> beta, MatrixView<double> rho, std::span<ColumnFigures> figures,
                     Backend& backend, const Execution& execution);

}  // namespace poise
