#pragma once

#include "poise/backend/backend.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/shared_system.hpp"
#include "poise/solver/weighted_errors.hpp"

namespace poise {

/// Products of the true residuals of saved columns, R = (rho_1 ... rho_n), rho_i = c_i - H_i B_:i, with
/// vectors, without forming R. With q_i = e_i - B_:i and E of solver/weighted_errors.hpp the residual of an
/// autoencoder's column is
///
///     rho_i = b_i G q_i + X'E_:i - Lambda B_:i,   G = X' diag(a) X,
///
/// so R z = G sum_i b_i z_i q_i + X'E z - Lambda B z. All in float64. The columns lie in any memory.
struct ResidualProducts {
  Matrix<double> R;  ///< R z
  Matrix<double> B;  ///< B z
};
/// 2 n operations per column and vector, twice that with weights b, plus those of G and E.
ResidualProducts residual_products(const SharedSystem& A, const WeightedErrors& E, SavedColumns columns,
                                   const Matrix<double>& z, Backend& backend);

/// R'e for each column e of forms.e, items x vectors: rho_i . e = q_i . (b_i G e + Lambda e) + (E'X e)_i -
/// (Lambda e)_i. At the same cost.
Matrix<double> residual_dots(const SharedSystem& A, const WeightedErrors& E, SavedColumns columns,
                             const InverseForms& forms, Backend& backend);

}  // namespace poise
